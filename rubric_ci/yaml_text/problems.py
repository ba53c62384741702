"""A problem of a file, before it becomes a `Diagnostic`."""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple, TypeAlias

from rubric_ci.model.rules import GOOD_CASE, Rule, with_cases, with_rubrics

Path: TypeAlias = tuple[str | int, ...]
Place: TypeAlias = tuple[int, int, int, int]
"""Line, column, end line, end column: from 1, end exclusive."""


MAX_PROBLEMS: Final = 1_000
"""Reported per file; each takes a kilobyte."""


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
    items = owner.get(key) if isinstance(owner, dict) else None
    for index, item in enumerate(items if isinstance(items, list) else ()):
        if isinstance(item, dict):
            yield (*path, key, index), item


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


class Location(NamedTuple):
    """Where a value is written."""

    file: str
    place: Place
    alias_line: int | None = None  # the line of the alias through which the path leads


class LocatedProblem(NamedTuple):
    """A problem with its place in the text; positions count from 1, ends are exclusive."""

    rule: Rule
    line: int
    column: int
    end_line: int
    end_column: int
    message: str
    hint: str = ""
