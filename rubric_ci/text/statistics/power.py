"""Smallest drop that two runs of the same cases detect, and the cases and trials for a drop.

The mean difference of n cases in k clusters, with K and L trials per case, has the variance
ω² / k + σ² (1/K + 1/L) / n: ω² is the variance of the true differences of the cases, σ² the
variance of one trial, target and judge together (Miller, "Adding Error Bars to Evals",
arXiv:2411.00640, section 5; clusters as independent units, their cases as one).

ω² of a drop cannot be measured before it happens. A case that a change affects is assumed to lose
`LOSS` of its score, so that a drop of δ affects m of the k clusters, binomial with δ / LOSS. A
measured ω² above LOSS δ - δ² adds the rest to the noise. The probability that the test of the mean
finds the drop is the sum over m: given m, the sum of the differences is about normal, and the sign
flips reject a value that follows from m steps of one size and the noise (`_critical`).

The sign flips of verdicts are coarse: sums of multiples of 1 / c, with c the least common multiple
of K and L, lie 2 / c apart, so half of that is added (a continuity correction). Scores between 0
and 1 are finer the smaller their variance, at most 1/4: the correction is times 4 σ².
"""

from collections.abc import Iterator
from functools import cache, lru_cache
from math import ceil, comb, erfc, exp, fsum, lcm, lgamma, log, log1p, sqrt
from typing import Final

from rubric_ci.text.statistics.significance import MANY_FREEDOM, SIGNIFICANT, Z, t_quantile
from rubric_ci.values.dataclass import dataclass

POWER: Final = 0.8
LOSS: Final = 0.5
LEAST: Final = 8  # clusters; with six or seven, sign flips are too coarse for this formula
MOST_CASES: Final = 100_000
MANY_AFFECTED: Final = 24  # clusters; above, the sum of their sign flips is about normal


@dataclass(frozen=True, slots=True, kw_only=True)
class Variances:
    """The variances of a score between 0 and 1, by their source."""

    cases: float = 0.0  # of the differences between runs, beyond their trials
    target: float = 0.03  # of one trial: the answers
    judge: float = 0.01  # of one trial: the marks of equal answers
    runs: int = 0  # that they were measured on; 0: these defaults

    @property
    def trial(self) -> float:
        """The variance of one trial."""
        return self.target + self.judge


DEFAULT: Final = Variances()


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """A comparison: its cases, and the trials of each case in both runs."""

    cases: int
    clusters: int  # groups of cases that are not independent of each other
    trials: int
    reference_trials: int


def smallest_drop(design: Design, variances: Variances) -> float | None:
    """Return the smallest drop of the mean that is seen with probability `POWER`.

    None: a drop of `LOSS` is not, or there are fewer than `LEAST` clusters.
    """
    if design.clusters < LEAST or probability(LOSS, design, variances) < POWER:
        return None
    low, high = 0.0, LOSS
    while high - low > 1e-5:
        middle = (low + high) / 2
        seen = probability(middle, design, variances) >= POWER
        low, high = (low, middle) if seen else (middle, high)
    return high


def cases_needed(drop: float, trials: int, variances: Variances) -> int | None:
    """Return the number of independent cases that detect a drop, with the same trials in both runs.

    None: more than `MOST_CASES`.
    """
    low, high = LEAST - 1, MOST_CASES
    if probability(drop, _independent(high, trials), variances) < POWER:
        return None
    while high - low > 1:
        middle = ceil((low + high) / 2)
        seen = probability(drop, _independent(middle, trials), variances) >= POWER
        low, high = (low, middle) if seen else (middle, high)
    return high


def _independent(cases: int, trials: int) -> Design:
    return Design(cases=cases, clusters=cases, trials=trials, reference_trials=trials)


def probability(drop: float, design: Design, variances: Variances, loss: float = LOSS) -> float:
    """Return the probability that the mean is significantly lower after a drop.

    `loss`: of the score of an affected case; the drop, if that is more.
    """
    loss, clusters = max(loss, drop), design.clusters
    step = loss * design.cases / clusters
    rest = max(0.0, variances.cases - loss * drop + drop**2)
    trials = 1 / design.trials + 1 / design.reference_trials
    noise = variances.trial * trials * design.cases + rest * design.cases**2 / clusters
    coarse = 4 * variances.trial / lcm(design.trials, design.reference_trials)
    return fsum(
        chance * _found(affected, clusters, step, noise, coarse)
        for affected, chance in _binomial(clusters, drop / loss)
    )


def _found(affected: int, clusters: int, step: float, noise: float, coarse: float) -> float:
    """Return the probability that the sum of the differences is significant.

    What an affected cluster loses beyond its step adds to the sum, and to the value that the sum
    has to reach, so that the noise of these clusters counts less.
    """
    reject = _critical(affected, clusters, step, noise) + coarse
    root = sqrt(step * step * affected + noise)
    less = 1 - Z * step / root if root else 0.0
    share = affected / clusters
    deviation = sqrt(noise * (1 - share + share * less * less))
    return _at_least(reject - step * affected, deviation)


@lru_cache(maxsize=4096)
def _critical(affected: int, clusters: int, step: float, noise: float) -> float:
    """Return the sum from which on sign flips are significant.

    The sum of the flips of the affected clusters is one of their number + 1 values; the sum
    of the noise is about normal.
    """
    noise *= _lighter(clusters)
    if affected > MANY_AFFECTED:
        return Z * sqrt(step * step * affected + noise)
    sums = [
        (comb(affected, up) / 2**affected, step * (2 * up - affected)) for up in range(affected + 1)
    ]
    deviation = sqrt(noise)
    low, high = 0.0, step * (affected + 1) + 3 * deviation
    for _ in range(40):
        middle = (low + high) / 2
        tail = fsum(chance * _at_least(middle - at, deviation) for chance, at in sums)
        low, high = (middle, high) if tail > SIGNIFICANT / 2 else (low, middle)
    return high


@cache
def _lighter(clusters: int) -> float:
    """Return the share of the noise that gives the tail of sign flips of few clusters.

    A sum over the root of the sum of its squares has lighter tails than a normal value: with
    Student's t of k - 1 degrees of freedom it is t √(k / (k - 1 + t²)).
    """
    if clusters > MANY_FREEDOM:
        return 1.0
    t = t_quantile(clusters - 1)
    return clusters / (clusters - 1 + t * t) * (t / Z) ** 2


def _at_least(value: float, deviation: float) -> float:
    """Return the probability that a normal value with mean 0 is at least this."""
    if not deviation:
        return float(value <= 0)
    return erfc(value / (deviation * sqrt(2))) / 2


def _binomial(count: int, chance: float) -> Iterator[tuple[int, float]]:
    """Yield the likely numbers of successes with their probabilities; `chance` is above 0."""
    if chance >= 1:
        yield count, 1.0
        return
    mean, reach = count * chance, 6 * sqrt(count * chance) + 6
    for k in range(max(0, int(mean - reach)), min(count, int(mean + reach)) + 1):
        ways = lgamma(count + 1) - lgamma(k + 1) - lgamma(count - k + 1)
        yield k, exp(ways + k * log(chance) + (count - k) * log1p(-chance))
