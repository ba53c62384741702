"""How much more the trials of one night agree than trials of different nights.

With x and y two trials of a case, (x - y)² is twice its variance in expectation. The mean over
pairs of different nights less the mean over pairs of one night is, per case, 0 in expectation if
nights share nothing, whatever the distribution of the scores. The sum over the cases by its own
error is the test; by the sum over pairs of different nights it is the correlation of two trials of
a night (the intraclass correlation of Fisher, Statistical Methods for Research Workers, 1925).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import fsum, sqrt
from statistics import fmean
from typing import Final

CLEAR: Final = 2.33  # standard errors: one-sided 0.01
NIGHTS: Final = 3  # of a case, at least

Nights = Sequence[Sequence[float]]
"""The scores of the trials of a case, by night."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NightEffect:
    """The correlation of two trials of one night, beyond the noise of its cases."""

    correlation: float
    clear: bool  # more than `CLEAR` of its own standard errors above 0


def measure(cases: Iterable[Nights]) -> NightEffect | None:
    """Return the effect; None without a case of several nights that have several trials."""
    found = [each for case in cases if len(case) >= NIGHTS for each in _of_case(case)]
    between = fsum(b for b, _ in found)
    if not between:
        return None
    differences = [b - w for b, w in found]
    total, error = fsum(differences), sqrt(fsum(d * d for d in differences))
    return NightEffect(correlation=total / between, clear=total > CLEAR * error)


def _of_case(nights: Nights) -> Iterator[tuple[float, float]]:
    """Yield twice the variance of a trial, from pairs of different nights and of one night."""
    within = [_square(x, y) for night in nights for x, y in combinations(night, 2)]
    pairs = combinations(nights, 2)
    between = [_square(x, y) for one, other in pairs for x in one for y in other]
    if within and between:
        yield fmean(between), fmean(within)


def _square(x: float, y: float) -> float:
    return (x - y) ** 2
