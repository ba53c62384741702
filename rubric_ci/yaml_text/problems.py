"""A problem at a place in data, before anyone has asked where that is in the text."""

from typing import Final, NamedTuple, TypeAlias

from rubric_ci.model.rules import Rule

Path: TypeAlias = tuple[str | int, ...]
Place: TypeAlias = tuple[int, int, int, int]
"""Line, column, end line, end column: from 1, end exclusive."""


MOST_PROBLEMS: Final = 1_000
"""How many of a file are told: nobody reads more, and each takes a kilobyte."""


class Problem(NamedTuple):
    """What is wrong with the value (or the key) at a path."""

    rule: Rule
    path: Path
    message: str
    hint: str = ""
    at_key: bool = False  # the key is at fault, not its value
    part: str = ""  # the part of the text at the path that is wrong, as it is written there
    meant: str = ""  # the known key that a misspelt one probably means
    missing: tuple[str, ...] = ()  # the keys of which one is required at the path


class Fault(NamedTuple):
    """What is wrong with the text itself; positions count from 1, ends are exclusive."""

    rule: Rule
    line: int
    column: int
    end_line: int
    end_column: int
    message: str
    hint: str = ""
