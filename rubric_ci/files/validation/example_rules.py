"""Rules of marked answers: the examples that a judge is shown, and the tests of a rubric file."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rubric_ci.files.validation.condition_rules import wrong_mark
from rubric_ci.text.suggestions import did_you_mean, nearest
from rubric_ci.values.problems import Path, Problem, Rule, mappings, with_cases

MOST_CHARACTERS: Final = 8_000
_OF_CASE: Final = len(("evalcases", 0, "rubrics"))

_RUBRICS: Final = "  - id: greeting\n    input: Say hello\n    rubrics:\n"
EXAMPLE_MARK: Final = Rule(
    id="example-mark",
    meaning=(
        "`marks` of an example or a test names criteria of its list, each with a mark that the "
        "criterion can have."
    ),
    hint="write a mark that the judge can give",
    bad=with_cases(
        f"{_RUBRICS}      examples: [{{answer: Hi, marks: {{warm: 7}}}}]\n"
        "      criteria: [{id: warm, expected_outcome: Is warm}]\n"
    ),
    good=with_cases(
        f"{_RUBRICS}      examples: [{{answer: Hi, marks: {{warm: true}}}}]\n"
        "      criteria: [{id: warm, expected_outcome: Is warm}]\n"
    ),
)
TEST_ANSWER: Final = Rule(
    id="test-answer",
    meaning="A test of a rubric file has the text of an answer, or the path of a file with it.",
    hint="write one of them",
)
TEST_PLACE: Final = Rule(
    id="test-place",
    meaning="`tests` are of a rubric file, or in `rubrics` of a case: they are answers to it.",
    hint="move them to `rubrics` of a case, or to a rubric file",
    bad=(
        "rubrics:\n  criteria: [{id: warm, expected_outcome: Is warm}]\n"
        "  tests: [{answer: Hi, marks: {warm: true}}]\n"
        "evalcases:\n  - {id: greeting, input: Say hello}\n"
    ),
    good=with_cases(
        f"{_RUBRICS}      criteria: [{{id: warm, expected_outcome: Is warm}}]\n"
        "      tests: [{answer: Hi, marks: {warm: true}}]\n"
    ),
)
EXAMPLE_SIZE: Final = Rule(
    id="example-size",
    meaning="The examples of a list have 8,000 characters at most: each request sends all of them.",
    hint="shorten them, or keep those that decide",
)


def example_problems(
    owner: dict[str, Any], named: Mapping[str, Any], path: Path
) -> Iterator[Problem]:
    """Yield the problems of the examples next to criteria, which `named` has by id."""
    size = 0
    for place, each in mappings(owner, "examples", path):
        size += sum(len(text) for text in each.values() if isinstance(text, str))
        yield from mark_problems(each.get("marks"), named, (*place, "marks"))
    if size > MOST_CHARACTERS:
        message = f"the examples have {size:,} characters, more than {MOST_CHARACTERS:,}"
        yield Problem(EXAMPLE_SIZE, (*path, "examples"), message, at_key=True)


def case_test_problems(
    owner: dict[str, Any], named: Mapping[str, Any], path: Path
) -> Iterator[Problem]:
    """Yield the problems of the tests next to the criteria of a case; elsewhere there are none."""
    if isinstance(owner.get("tests"), list) and len(path) != _OF_CASE:
        yield Problem(TEST_PLACE, (*path, "tests"), "`tests` has no case here", at_key=True)
    for place, each in mappings(owner, "tests", path):
        yield from mark_problems(each.get("marks"), named, (*place, "marks"), several=True)


def ids_of(criteria: list[Any]) -> list[str]:
    """Return the ids that criteria have in their list."""
    names = [each.get("id") if isinstance(each, dict) else None for each in criteria]
    return [
        name if isinstance(name, str) else f"rubric-{number}"
        for number, name in enumerate(names, start=1)
    ]


def mark_problems(
    marks: Any, named: Mapping[str, Any], path: Path, *, several: bool = False
) -> Iterator[Problem]:
    """Yield marks of unknown criteria, and marks that a criterion cannot have.

    `several`: a list has the marks of which any one is right.
    """
    for name, given in marks.items() if isinstance(marks, dict) else ():
        if name not in named:
            hint = did_you_mean(nearest(name, named)) or f"known: {', '.join(named)}"
            message = f"there is no criterion `{name}`"
            yield Problem(EXAMPLE_MARK, (*path, name), message, hint, at_key=True)
            continue
        for mark in given if several and isinstance(given, list) else [given]:
            if allowed := wrong_mark(named[name], mark):
                message = f"`{name}` is never marked so"
                yield Problem(EXAMPLE_MARK, (*path, name), message, f"its marks are {allowed}")
