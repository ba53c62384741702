"""Changes to the grading: gate, judge, criteria, cases, recordings, waivers."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Final, Literal, TypeAlias

from rubric_ci.model.dataclass import dataclass

Direction: TypeAlias = Literal["weaker", "stronger", "changed"]
"""`weaker`: it can move a verdict towards pass; `changed`: what it does is not known."""

GradingChangeKind: TypeAlias = Literal[
    "gate",
    "judge",
    "rule",
    "target",
    "depends-on",
    "case",
    "criterion",
    "required",
    "weight",
    "scale",
    "assertion",
    "tag",
    "trials",
    "reference",
    "evaluator",
    "script",
    "recording",
    "labels",
    "calibration",
    "waiver",
]


ADDED: Final = "added"  # a case that the base does not have


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
