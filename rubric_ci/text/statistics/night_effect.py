"""Effects of a night: how much more its trials agree, and how much its mean differs.

With x and y two trials of a case, (x - y)² is twice its variance in expectation. The mean over
pairs of different nights less the mean over pairs of one night is, per case, 0 in expectation if
nights share nothing, for every distribution of the scores. The sum over the cases by its own
error is the test; by the sum over pairs of different nights it is the correlation of two trials of
a night (the intraclass correlation of Fisher, Statistical Methods for Research Workers, 1925).

A judge that is more lenient in one night than in another moves all marks of a night by little: the
trials of a case hardly correlate, and the mean of many cases moves by more than its trials explain.
The means of the nights show that as a whole: their variance is the variance of one night, from any
source, so that the difference of a further night from their mean has Student's t.

A few nights measure that variance roughly. Later nights add to it by half of the squares of the
differences from the night before, which a slow slide hardly changes (von Neumann, "Distribution of
the ratio of the mean square successive difference to the variance", Annals of Mathematical
Statistics 12, 1941); such a difference is worth two thirds of a degree of freedom.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, pairwise, product
from math import ceil, fsum, sqrt
from statistics import fmean
from typing import Final

from rubric_ci.text.statistics import significance
from rubric_ci.text.statistics.spread import variance
from rubric_ci.values.dataclass import dataclass

CLEAR: Final = 2.33  # standard errors: one-sided 0.01
NIGHTS: Final = 3  # of a case, at least
MOST_FREEDOM: Final = 200  # above, Student's t differs from a normal distribution by nothing
WORTH: Final = 2 / 3  # degrees of freedom of a difference between a night and the night before

Nights = Sequence[Sequence[float]]
"""The scores of the trials of a case, by night."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NightEffect:
    """The correlation of two trials of one night, beyond the noise of its cases."""

    correlation: float
    clear: bool  # more than `CLEAR` of its standard errors above 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NightMeans:
    """The variance of the mean of a night, from several nights."""

    nights: int
    variance: float
    trial: float  # of the mean of one trial of each case, if nights share nothing
    trials: float  # of a case and night
    correlation: float = 0.0  # of two trials of a case in one night
    further: float = 0.0  # degrees of freedom of the variance that are of later nights

    @property
    def freedom(self) -> float:
        """The degrees of freedom of the variance."""
        return self.nights - 1 + self.further

    def with_later(self, means: Sequence[float], trials: int) -> "NightMeans":
        """Return the measure with later nights of so many trials; means in order of time."""
        fewer = self.trial * (1 / trials - 1 / self.trials)  # which these nights differ more by
        squares = [(b - a) ** 2 / 2 - fewer for a, b in pairwise(means)]
        further = WORTH * len(squares)
        every = self.variance * (self.nights - 1) + WORTH * fsum(squares)
        found = max(0.0, every) / (self.nights - 1 + further)
        return replace(self, variance=found, further=further)

    def excess(self, trials: int) -> float:
        """Return the variance of a night over the variance of one that shares nothing, at least 1.

        It is a design effect. The correlation is of all cases, so that it is a lower bound for
        trials that repeat each other.
        """
        alone = self.trial / trials
        alike = 1 + (trials - 1) * self.correlation
        of_night = self.variance + self.trial * (1 / trials - 1 / self.trials)
        return max(1.0, alike, of_night / alone if alone else 0.0)

    def reach_of_mean(self, confidence: float) -> float:
        """Return how far the mean of all nights may be from the true one, on either side."""
        quantile = significance.t_quantile(_whole(self.freedom), confidence)
        return quantile * sqrt(self.variance / self.nights)

    def reach(self, trials: int) -> float:
        """Return how far a further night of so many trials may be from the mean of all nights."""
        error, freedom = self._error(trials)
        return significance.t_quantile(freedom) * error

    def p_value(self, difference: float, trials: int) -> float:
        """Return the two-sided p-value of the difference of a further night from the mean."""
        error, freedom = self._error(trials)
        return significance.t_p_value(difference / error, freedom) if error else 0.0

    def _error(self, trials: int) -> tuple[float, int]:
        """Return the standard error of a difference, and its degrees of freedom.

        Fewer trials than the nights have add to the variance. It is known from all cases, so that
        the degrees of freedom rise (Satterthwaite, Biometrics Bulletin 2, 1946).
        """
        measured = self.variance * (1 + 1 / self.nights)
        added = self.trial * max(0.0, 1 / trials - 1 / self.trials)
        every = measured + added
        if not measured:
            return sqrt(every), MOST_FREEDOM
        return sqrt(every), _whole(self.freedom * (every / measured) ** 2)


def _whole(freedom: float) -> int:
    return min(MOST_FREEDOM, int(freedom + 1e-9))


def means_of(cases: Sequence[Nights], most: int) -> NightMeans | None:
    """Return the means of the nights with the first `most` trials; None for fewer than `NIGHTS`.

    Each night has all cases.
    """
    trials = fmean(len(night) for case in cases for night in case)
    nights = min(len(cases[0]), ceil(most / trials))
    if nights < NIGHTS:
        return None
    counted = [case[:nights] for case in cases]
    means = [fmean(fmean(case[night]) for case in counted) for night in range(nights)]
    return NightMeans(
        nights=nights,
        variance=variance(means),
        trial=fmean(_apart(case) for case in counted) / len(cases),
        trials=trials,
        correlation=_correlation(counted),
    )


def _correlation(cases: Sequence[Nights]) -> float:
    """Return the correlation of two trials of a night, 0 to 1; 0 if nights have one trial."""
    found = [each for case in cases for each in _of_case(case)]
    between = fsum(b for b, _ in found)
    return max(0.0, fsum(b - w for b, w in found) / between) if between else 0.0


def _apart(nights: Nights) -> float:
    """Return the variance of a trial, from pairs of different nights.

    Trials of one night may repeat each other, and a night may have one only.
    """
    return fmean(
        _square(x, y) / 2 for one, other in combinations(nights, 2) for x, y in product(one, other)
    )


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
