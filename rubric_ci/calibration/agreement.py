"""Inter-rater agreement: accuracy, κ with a confidence interval, leniency, flips.

One formula serves every kind of criterion: κ = 1 - observed / expected disagreement, where two
marks disagree by the square of the distance between their normalised values. For satisfied or
not that is Cohen's κ; for scores and levels it is κ with quadratic weights. `cannot_assess` has
no normalised value, so it disagrees fully with every other mark.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import fsum
from typing import TypeAlias

from rubric_ci.model.rubric import CANNOT_ASSESS, Criterion, Mark, MarkValue

Position: TypeAlias = float | None
"""A mark on its criterion's scale, 0..1; None for `cannot_assess`."""

Resample: TypeAlias = Callable[[int], Sequence[int]]
"""Given n, draw n indexes below n with replacement. The caller sets the seed."""

DRAWS = 2000
MIN_USABLE_DRAWS = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two raters' marks of one criterion of one answer."""

    case: str  # marks of the same case stay together when resampled
    reference: MarkValue
    other: MarkValue
    positions: tuple[Position, Position]  # of the two marks, in the same order


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Agreement over all pairs; a number that is undefined for them is None."""

    n: int
    accuracy: float  # the share of identical marks
    kappa: float | None  # None: both raters gave the same mark everywhere
    interval: tuple[float, float] | None = None  # 95 %, percentile bootstrap over cases
    leniency: float  # mean of other - reference, in -1..1; above 0: the other is more lenient
    confusion: Mapping[tuple[str, str], int]  # (reference, other) -> count


def pair(criterion: Criterion, case: str, reference: MarkValue, other: MarkValue) -> Pair:
    """Return two marks with their normalised values."""
    positions = (position(criterion, reference), position(criterion, other))
    return Pair(case=case, reference=reference, other=other, positions=positions)


def position(criterion: Criterion, value: MarkValue) -> Position:
    """Return the normalised value of a mark, or None for `cannot_assess`."""
    return None if value == CANNOT_ASSESS else criterion.normalise(Mark(value=value))


def agreement(
    pairs: Sequence[Pair], resample: Resample | None = None, draws: int = DRAWS
) -> Agreement:
    """Return the agreement of one or more pairs; without `resample` it has no interval."""
    positions = [p.positions for p in pairs]
    return Agreement(
        n=len(pairs),
        accuracy=fsum(p.reference == p.other for p in pairs) / len(pairs),
        kappa=kappa(positions),
        interval=interval(pairs, resample, draws) if resample else None,
        leniency=fsum((b or 0.0) - (a or 0.0) for a, b in positions) / len(pairs),
        confusion=dict(Counter((mark_text(p.reference), mark_text(p.other)) for p in pairs)),
    )


def kappa(positions: Sequence[tuple[Position, Position]]) -> float | None:
    """Return 1 - observed / expected disagreement; None if no disagreement is expected."""
    n = len(positions)
    observed = fsum(count * _distance(*two) for two, count in Counter(positions).items()) / n
    first, second = Counter(a for a, _ in positions), Counter(b for _, b in positions)
    expected = fsum(
        times * others * _distance(a, b)
        for a, times in first.items()
        for b, others in second.items()
    ) / (n * n)
    return None if expected == 0 else 1 - observed / expected


def interval(
    pairs: Sequence[Pair], resample: Resample, draws: int = DRAWS
) -> tuple[float, float] | None:
    """Return the 95 % percentile interval of κ over resampled cases.

    Draws in which κ is undefined are left out; None if those are more than half of all draws.
    """
    groups = _by_case(pairs)
    values = sorted(v for _ in range(draws) if (v := _one_draw(groups, resample)) is not None)
    if not values or len(values) < draws * MIN_USABLE_DRAWS:
        return None
    return _quantile(values, 0.025), _quantile(values, 0.975)


def self_agreement(votes: Sequence[Sequence[MarkValue]]) -> float | None:
    """Return the share of equal pairs among repeated votes; None if there is one vote each."""
    equal = [a == b for panel in votes for a, b in combinations(panel, 2)]
    return fsum(equal) / len(equal) if equal else None


def flips(votes: Sequence[Sequence[MarkValue]]) -> float | None:
    """Return the share of repeated votes that differ; None if there is one vote each."""
    repeated = [panel for panel in votes if len(panel) > 1]
    return fsum(len(set(panel)) > 1 for panel in repeated) / len(repeated) if repeated else None


def mark_text(value: MarkValue) -> str:
    """Return a mark as reports and label files write it."""
    if isinstance(value, bool):
        return "satisfied" if value else "not satisfied"
    return str(value)


def _distance(a: Position, b: Position) -> float:
    if a is None or b is None:
        return 0.0 if a is b else 1.0
    return (a - b) ** 2


def _by_case(pairs: Sequence[Pair]) -> list[list[tuple[Position, Position]]]:
    groups: dict[str, list[tuple[Position, Position]]] = {}
    for each in pairs:
        groups.setdefault(each.case, []).append(each.positions)
    return list(groups.values())


def _one_draw(
    groups: Sequence[Sequence[tuple[Position, Position]]], resample: Resample
) -> float | None:
    return kappa([two for index in resample(len(groups)) for two in groups[index]])


def _quantile(ordered: Sequence[float], share: float) -> float:
    """Interpolate linearly between the two nearest values."""
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)
