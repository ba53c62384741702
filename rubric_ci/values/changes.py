"""The differences of a change: its base commit, its paths, and the grading."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Final, Literal, TypeAlias

from rubric_ci.values.dataclass import dataclass

SYMLINK = "120000"
SUBMODULE = "160000"
ABSENT = "000000"

NEW_CASE = "the case is new"  # reason why a case runs, as reports show it
CASE_EDITED = "the case was edited"


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """The commit that the checkout is compared with."""

    commit: str
    origin: str  # for messages: "the last common commit with `main`"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoBase:
    """There is no base to compare with, so every case runs."""

    reason: str


FoundBase: TypeAlias = Base | NoBase

Direction: TypeAlias = Literal["weaker", "stronger", "changed"]
"""`weaker`: it can move a verdict towards pass; `changed`: its effect is not known."""

GradingChangeKind: TypeAlias = Literal[
    "gate",
    "judge",
    "rule",
    "target",
    "configuration",
    "depends-on",
    "case",
    "criterion",
    "required",
    "weight",
    "scale",
    "assertion",
    "condition",
    "tag",
    "trials",
    "reference",
    "evaluator",
    "script",
    "results",
    "recording",
    "labels",
    "calibration",
    "waiver",
]

ADDED: Final = "added"  # a case that the base does not have


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """The event that started a CI run, with the commits to compare; "" if unknown."""

    event: str  # GitHub's name: "pull_request", "push", …
    sha: str = ""  # the commit that the workflow runs on: a pull request's merge commit
    base_sha: str = ""  # of a push: the former commit
    head_sha: str = ""  # pull_request.head.sha
    ref: str = ""  # push: "refs/heads/…"
    default_branch: str = ""  # repository.default_branch


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A path of a commit: a file, a symbolic link or a submodule."""

    mode: str  # as git writes it: "100644", SYMLINK, SUBMODULE
    object_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A path that differs between the base and the working tree."""

    path: str  # relative to the root, forward slashes
    old_mode: str  # ABSENT: not in the base
    new_mode: str  # ABSENT: not in the working tree


@dataclass(frozen=True, slots=True, kw_only=True)
class GradingChange:
    """One setting, criterion or file that grades otherwise than at the base."""

    kind: GradingChangeKind
    direction: Direction
    about: str  # "gate.fail_on", "refund/period"
    file: str
    line: int  # in the head; of the base, where it was removed
    before: str  # "" : was not there
    after: str  # "" : is not there


def added_cases(changes: Iterable[GradingChange]) -> frozenset[tuple[str, str]]:
    """Return file and id of the cases that the change adds."""
    return frozenset(
        (change.file, change.about)
        for change in changes
        if change.kind == "case" and not change.before and change.after == ADDED
    )


def compared(before: Fraction | float, after: Fraction | float) -> Direction:
    """Return the direction of a minimum that moved."""
    if before == after:
        return "changed"
    return "weaker" if after < before else "stronger"


def by_order(change: GradingChange) -> tuple[int, str, int]:
    """Return the sort key: weaker first, then by place."""
    directions = ("weaker", "changed", "stronger")
    return directions.index(change.direction), change.file, change.line
