"""A rule of `rubric-ci validate`; each is defined in the module that checks it."""

from typing import Final, Literal, NamedTuple


class Rule(NamedTuple):
    """Identifier, severity and documentation of a rule."""

    id: str  # kebab-case, such as "score-range-overlap"
    meaning: str  # the first sentence is its short description
    hint: str = ""  # how to fix the problem; a problem may have a better one
    severity: Literal["error", "warning", "notice"] = "error"
    switchable: bool = False  # can be turned off: grading does not depend on it
    bad: str = ""  # a file that breaks this rule and no other
    good: str = ""  # the same file without the problem


CASE: Final = "evalcases:\n  - id: greeting\n    input: Say hello\n"
GOOD_CASE: Final = "  - id: greeting\n    input: Say hello\n    rubrics: [Greets]\n"
GOOD_FILE: Final = f"evalcases:\n{GOOD_CASE}"


def with_cases(cases: str) -> str:
    """Return an example file with these cases."""
    return f"evalcases:\n{cases}"


def with_rubrics(criteria: str) -> str:
    """Return an example file whose case has these criteria."""
    return f"{CASE}    rubrics:\n{_indented(criteria, 6)}"


def with_evaluator(evaluator: str) -> str:
    """Return an example file whose case has this evaluator."""
    return f"{CASE}    execution:\n      evaluators:\n{_indented(evaluator, 8)}"


def _indented(text: str, columns: int) -> str:
    return "".join(f"{' ' * columns}{line}\n" for line in text.splitlines())
