"""From marks to a score and a verdict: one weighted mean, rounded once, gates first."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from enum import Enum
from math import fsum

from rubric_ci.model.rubric import Judgement, Rubric

DECIMALS = 6  # 0.1 + 0.7 of 1.0 must reach 0.8


class Verdict(Enum):
    """What a score means for the merge."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    BORDERLINE = "borderline"
    FAIL = "fail"


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """The least score of each verdict above fail."""

    passing: float = 0.8
    borderline: float = 0.6


DEFAULT_THRESHOLDS = Thresholds()


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """A value in 0..1, and the verdict that agrees with it and with the gates."""

    value: float
    verdict: Verdict
    gated_by: tuple[str, ...] = ()  # ids of the criteria whose gate is missed


def score(
    rubric: Rubric, judgement: Judgement, thresholds: Thresholds = DEFAULT_THRESHOLDS
) -> Score:
    """Weigh every mark; a missed gate fails the case whatever the score."""
    value = weighted_mean((c.weight, c.normalise(judgement[c.id])) for c in rubric)
    gated_by = tuple(c.id for c in rubric if c.gates(judgement[c.id]))
    return Score(value=value, verdict=verdict(value, gated_by, thresholds), gated_by=gated_by)


def combine(
    scores: Iterable[tuple[float, Score]], thresholds: Thresholds = DEFAULT_THRESHOLDS
) -> Score:
    """Weigh the scores of several evaluators, as (weight, score) pairs of total weight above 0.

    A weight of 0 neither counts nor gates.
    """
    counted = [(weight, part) for weight, part in scores if weight > 0]
    value = weighted_mean((weight, part.value) for weight, part in counted)
    gated_by = tuple(gate for _, part in counted for gate in part.gated_by)
    return Score(value=value, verdict=verdict(value, gated_by, thresholds), gated_by=gated_by)


def weighted_mean(parts: Iterable[tuple[float, float]]) -> float:
    """Return the mean of (weight, value) pairs, rounded before anything is compared with it."""
    pairs = list(parts)
    return round(fsum(w * v for w, v in pairs) / fsum(w for w, _ in pairs), DECIMALS)


def verdict(
    value: float, gated_by: tuple[str, ...] = (), thresholds: Thresholds = DEFAULT_THRESHOLDS
) -> Verdict:
    """Return the verdict of a rounded value; any missed gate makes it fail."""
    if gated_by or value < thresholds.borderline:
        return Verdict.FAIL
    return Verdict.PASS if value >= thresholds.passing else Verdict.BORDERLINE


def shown(value: float) -> str:
    """Show two decimals, rounded down: what misses 0.8 never reads as 0.80."""
    exact = Decimal(repr(round(value, 6)))
    return str(exact.quantize(Decimal("0.01"), rounding=ROUND_FLOOR))
