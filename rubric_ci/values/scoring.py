"""Marks, scores and verdicts: a weighted mean of marks less penalties, rounded once, and gates."""

from collections.abc import Iterable
from decimal import ROUND_FLOOR, Decimal
from functools import lru_cache
from math import fsum, inf
from typing import Annotated, Final, Literal, NamedTuple, TypeAlias

from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.written_keys import Key

DECIMALS = 6  # 0.1 + 0.7 of 1.0 must reach 0.8
_SMALLER: Final = 2.0**-64  # a power of two, so that no weight is rounded

Verdict: TypeAlias = Literal["pass", "borderline", "fail"]
"""The verdict of a score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    passing: Annotated[float, Key(0.9, name="pass", minimum=0, maximum=1)] = 0.8
    """Minimum score of the verdict `pass`."""
    borderline: Annotated[float, Key(0.7, minimum=0, maximum=1)] = 0.6
    """Minimum score of the verdict `borderline`."""


DEFAULT_THRESHOLDS = Thresholds()

CHECKLIST: Final = "checklist"
SCORE_RANGE: Final = "score-range"
LEVELS: Final = "levels"
CHOICES: Final = "choices"
ASSERTION: Final = "assertion"
YES_OR_NO: Final = frozenset((CHECKLIST, ASSERTION))  # the mark is true or false

CANNOT_ASSESS: Final = "cannot_assess"
NOT_APPLICABLE: Final = "not_applicable"

MarkValue: TypeAlias = bool | int | str
"""Satisfied or not (checklist, assertion), 0..10 (score-range), a level, a choice,
cannot_assess or not_applicable.

Of a criterion that names a fault, `True` is present."""


def verdict(
    value: float, gated_by: tuple[str, ...] = (), thresholds: Thresholds = DEFAULT_THRESHOLDS
) -> Verdict:
    """Return the verdict of a rounded value; any missed gate makes it fail."""
    if gated_by or value < thresholds.borderline:
        return "fail"
    return "pass" if value >= thresholds.passing else "borderline"


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """A value in 0..1, and the verdict that follows from it and from the gates."""

    value: float
    verdict: Verdict
    gated_by: tuple[str, ...] = ()  # ids of the criteria whose gate is missed


def combine(
    scores: Iterable[tuple[float, Score]], thresholds: Thresholds = DEFAULT_THRESHOLDS
) -> Score:
    """Return the weighted mean of evaluators, from (weight, score) pairs of total weight above 0.

    With a weight of 0 neither score nor gate counts.
    """
    counted = [(weight, part) for weight, part in scores if weight > 0]
    value = weighted_mean((weight, part.value) for weight, part in counted)
    gated_by = tuple(gate for _, part in counted for gate in part.gated_by)
    return Score(value=value, verdict=verdict(value, gated_by, thresholds), gated_by=gated_by)


def weighted_mean(parts: Iterable[tuple[float, float]]) -> float:
    """Return the mean of (weight, value) pairs, rounded before any comparison."""
    pairs = list(parts)
    try:
        return round(fsum(w * v for w, v in pairs) / fsum(w for w, _ in pairs), DECIMALS)
    except OverflowError:
        return weighted_mean((w * _SMALLER, v) for w, v in pairs)


class Weighed(NamedTuple):
    """A criterion in the score of its rubric."""

    weight: float  # at least 0; of a fault, the penalty
    value: float  # 0..1, of a fault 1 where it is not present
    fault: bool = False


def total_points(parts: Iterable[Weighed]) -> float:
    """Return the points that a score is a share of: the weights, or without any the penalties."""
    parts = list(parts)
    try:
        met = fsum([weight for weight, _, fault in parts if not fault])
        return met or fsum([weight for weight, *_ in parts])
    except OverflowError:
        return inf


def rubric_score(parts: Iterable[Weighed]) -> float:
    """Return the points that are met less the penalties of present faults, as a share, at least 0.

    Without a positive weight it is the share of the penalties whose fault is not present.
    """
    pairs = list(parts)
    try:
        weights = fsum([weight for weight, _, fault in pairs if not fault])
        met = fsum([weight * (value - fault) for weight, value, fault in pairs])
    except OverflowError:
        return rubric_score(each._replace(weight=each.weight * _SMALLER) for each in pairs)
    if not weights:
        return weighted_mean((each.weight, each.value) for each in pairs)
    return max(0.0, round(met / weights, DECIMALS))


@lru_cache(maxsize=1_000)  # most cases of a run have one of a few scores
def format_score(value: float) -> str:
    """Return two decimals, rounded down: a score below 0.8 is never shown as 0.80."""
    exact = Decimal(repr(round(value, 6)))
    return str(exact.quantize(Decimal("0.01"), rounding=ROUND_FLOOR))
