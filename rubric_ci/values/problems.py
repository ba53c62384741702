"""A rule of `rubric-ci validate`, and a problem of a file before it becomes a `Diagnostic`.

Each rule is defined in the module that checks it.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from rubric_ci.values.diagnostics import Diagnostic

Path: TypeAlias = tuple[str | int, ...]
Place: TypeAlias = tuple[int, int, int, int]
"""Line, column, end line, end column: from 1, end exclusive."""


INPUTS: Final = ("input_messages", "input")
MESSAGES: Final = (*INPUTS, "expected_messages", "expected_output")
"""The keys of a case with messages, as `EvalCase` declares them, which most files do not load."""

MAX_PROBLEMS: Final = 1_000
"""Reported per file; each takes a kilobyte."""


class Rule(NamedTuple):
    id: str  # kebab-case, such as "score-range-overlap"
    meaning: str  # the first sentence is its short description
    hint: str = ""  # how to fix the problem; a problem may have a better one
    severity: Literal["error", "warning", "notice"] = "error"
    switchable: bool = False  # can be turned off: grading does not depend on it
    bad: str = ""  # a file that breaks this rule and no other
    good: str = ""  # the same file without the problem


def errors_of(found: "Iterable[Diagnostic]") -> "list[Diagnostic]":
    return [each for each in found if each.severity.value == "error"]  # without `Severity`


CASE: Final = "evalcases:\n  - id: greeting\n    input: Say hello\n"
GOOD_CASE: Final = "  - id: greeting\n    input: Say hello\n    rubrics: [Greets]\n"
GOOD_FILE: Final = f"evalcases:\n{GOOD_CASE}"


def with_cases(cases: str) -> str:
    """Return an example file with these cases."""
    return f"evalcases:\n{cases}"


def with_rubrics(criteria: str) -> str:
    return f"{CASE}    rubrics:\n{_indented(criteria, 6)}"


def with_evaluator(evaluator: str) -> str:
    return f"{CASE}    execution:\n      evaluators:\n{_indented(evaluator, 8)}"


def with_target(keys: str) -> str:
    """Return an example of a configuration with a target."""
    return f"targets: [{{name: default, {keys}}}]\n"


def with_service(keys: str) -> str:
    return with_target(f"provider: http, url: 'https://a.example', {keys}")


def _indented(text: str, columns: int) -> str:
    return "".join(f"{' ' * columns}{line}\n" for line in text.splitlines())


UNKNOWN_KEY: Final = Rule(
    id="unknown-key",
    switchable=True,
    meaning=(
        "No field has this name: it is misspelt or at the wrong level. Unknown keys would be "
        "ignored silently, so they are errors. Keys that start with `x-` and everything below "
        "`metadata` are free for your own use."
    ),
    hint="remove it, or start its name with `x-`",
    bad=with_cases("  - id: greeting\n    input: Say hello\n    rubric: [Greets]\n"),
    good=with_cases(f"{GOOD_CASE}    x-reviewed: true\n"),
)
"""Checked by the schema, and by `jsonlines` in a sidecar."""
GIT_LFS: Final = Rule(
    id="git-lfs",
    meaning="Git LFS keeps the text elsewhere: the checkout has a pointer in place of the file.",
    hint="run `git lfs pull`; in a workflow, `lfs: true` of actions/checkout",
)
WRONG_TYPE: Final = Rule(
    id="wrong-type",
    meaning="The value has another type than the field requires.",
    bad=with_rubrics("- expected_outcome: Greets\n  weight: heavy"),
    good=with_rubrics("- expected_outcome: Greets\n  weight: 2.5"),
)
WEIGHT_TOTAL: Final = Rule(
    id="weight-total",
    meaning=(
        "A criterion with weight 0 is shown and not counted. If all weights are 0, there is no "
        "score."
    ),
    hint="give one of them a weight above 0",
    bad=with_rubrics("- {expected_outcome: Greets, weight: 0}"),
    good=with_rubrics(
        "- {expected_outcome: Greets, weight: 0}\n- {expected_outcome: Is short, weight: 1}"
    ),
)


def mappings(owner: Any, key: str, path: Path = ()) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield each mapping of the list at a key of data of any shape, with its path.

    `path` is the path of the owner.
    """
    for index, item in enumerate(list_at(owner, key)):
        if isinstance(item, dict):
            yield (*path, key, index), item


def list_at(owner: Any, key: str) -> list[Any]:
    """Return the list at a key of data of any shape; without one, an empty list."""
    found = owner.get(key) if isinstance(owner, dict) else None
    return found if isinstance(found, list) else []


def mapping_at(owner: Any, key: str) -> dict[str, Any]:
    """Return the mapping at a key of data of any shape; without one, an empty mapping."""
    found = owner.get(key) if isinstance(owner, dict) else None
    return found if isinstance(found, dict) else {}


class Problem(NamedTuple):
    """A problem of the data: it knows the path of a value, and its place is looked up later."""

    rule: Rule
    path: Path
    message: str
    hint: str = ""
    at_key: bool = False  # the problem is the key, not its value
    part: str = ""  # the part of the text at the path that is wrong, as it is written there
    meant: str = ""  # the known key that a misspelt one probably means
    missing: tuple[str, ...] = ()  # the keys of which one is required at the path
    first: Path = ()  # the earlier value that has the same name
    secret: bool = False  # no excerpt shows the value at the path


class Location(NamedTuple):
    file: str
    place: Place
    alias_line: int | None = None  # the line of the alias through which the path leads


class Placed(Protocol):
    """Data of a file, and the place of each value."""

    @property
    def file(self) -> str:
        """Return the name of the file."""

    @property
    def data(self) -> Any:
        """Return the data."""

    def locate(self, path: Path, *, at_key: bool = False) -> Place:
        """Return the place of the value at a path or of its key, else of the nearest parent."""


class LocatedProblem(NamedTuple):
    """A problem with its place in the text; positions count from 1, ends are exclusive."""

    rule: Rule
    line: int
    column: int
    end_line: int
    end_column: int
    message: str
    hint: str = ""
