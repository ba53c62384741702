"""A slow slide: evidence, collected night by night, that the mean fell below the pinned reference.

Each night bets that scores are lower than the reference's. A bet of size λ multiplies its
stake by Π_C,k (1 + λ y_C,k) over the independent cases or clusters C and their trials k, where y is
the drop of the scores less an allowance for the error of the reference. Without a drop,
Σ_C E[y_C,k] ≤ 0 and the expected product is Π (1 + λ E[y]) ≤ exp(λ Σ E[y]) ≤ 1, for every
distribution of the scores (Waudby-Smith and Ramdas, "Estimating means of bounded random variables
by betting", arXiv:2010.09686). Scores cannot rise above 1, so that with a good reference a λ far
above 1 cannot lose the stake: bets are shares of the largest λ that cannot.

All of this is for nights that share nothing. Where the means of nights differ by more than their
trials explain, the allowance is at least the error of the reference's mean (Student's t), and a
night counts as the share of independent trials that its variance is worth: the logarithm of its
product by the design effect, which keeps the expected product of a normal sum at most 1. A night of
its own, such as one with a bad judge, is not a slide, so that none multiplies the evidence by more
than `MOST_OF_A_NIGHT`.

The products of the nights become a Shiryaev-Roberts e-detector: R ← (1 + R) · product, the mean of
which over the bets is at most n in expectation after n nights without a drop, at any stopping time
(Shin, Ramdas and Rinaldo, "E-detectors", arXiv:2203.03532). So the probability that it reaches a
threshold T within n nights is at most n / T, however often it is looked at.
"""

from collections.abc import Sequence
from itertools import accumulate
from math import exp, fsum, log, log1p, sqrt
from statistics import NormalDist, fmean
from typing import Final

from rubric_ci.text.statistics.night_effect import NightMeans
from rubric_ci.text.statistics.spread import variance
from rubric_ci.values.dataclass import dataclass

BETS: Final = (1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 3 / 4)
"""The most that a unit can lose of the stake; small ones find a small drop of noisy scores."""

NIGHTS: Final = 200
"""Number of nights within which a false alarm is as probable as the budget allows."""

MOST_OF_A_NIGHT: Final = 20.0
"""Product of one night, at most: three nights at least raise the evidence to a threshold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """One case in one night: the scores of its trials, and of the trials of the reference."""

    head: Sequence[float]  # at least one, each 0..1
    reference: Sequence[float]  # at least two, each 0..1; the same number for all cases


@dataclass(frozen=True, slots=True, kw_only=True)
class Slide:
    """The state of the detector after some nights."""

    evidence: float
    threshold: float
    start: int  # index of the night from which on the scores are likely to be lower

    @property
    def detected(self) -> bool:
        """Return True if the mean is below the reference."""
        return self.evidence >= self.threshold


def log_products(
    clusters: Sequence[Sequence[Observed]], false_alarms: float, nights: NightMeans | None = None
) -> tuple[float, ...]:
    """Return the logarithm of a night's product for each of `BETS`; empty without a cluster.

    `nights`: of the reference and since; None: too few to know what a night shares.
    """
    if not clusters:
        return ()
    allowance = _error_of_reference(clusters, false_alarms / 2) / len(clusters)
    if nights:
        cases = sum(map(len, clusters))
        reach = nights.reach_of_mean(1 - false_alarms) * cases / len(clusters)
        allowance = max(allowance, reach)
    most = max(fsum(1 - fmean(case.reference) for case in cluster) for cluster in clusters)
    trials = min(len(case.head) for cluster in clusters for case in cluster)
    excess = nights.excess(trials) if nights else 1.0
    drops = [_drop(each, k, trials) - allowance for each in clusters for k in range(trials)]
    unit = most + allowance  # that a cluster can rise
    sums = (fsum(log1p(bet * drop / unit) for drop in drops) for bet in BETS)
    return tuple(round(each / excess, 6) for each in sums)


def detect(nights: Sequence[Sequence[float]], false_alarms: float) -> Slide:
    """Return the state after the nights, the oldest first, from their `log_products`.

    The threshold is reached within `NIGHTS` nights with a probability of at most half of
    `false_alarms`; the other half is the error of the reference. Stakes above the threshold are
    scaled down, which only lowers the evidence, so that the alarm ends soon after the scores rose.
    """
    threshold = 2 * NIGHTS / false_alarms
    counted = [[min(gain, log(MOST_OF_A_NIGHT)) for gain in night] for night in nights]
    stakes, evidence = [0.0] * len(BETS), 0.0
    for night in counted:
        gains = map(exp, night)
        stakes = [(1 + stake) * gain for stake, gain in zip(stakes, gains, strict=True)]
        scale = max(1.0, fmean(stakes) / threshold)
        stakes = [stake / scale for stake in stakes]
        evidence = fmean(stakes) if scale == 1 else threshold
    best = max(range(len(BETS)), key=stakes.__getitem__)
    start = _start([night[best] for night in counted])
    return Slide(evidence=evidence, threshold=threshold, start=start)


def _error_of_reference(clusters: Sequence[Sequence[Observed]], risk: float) -> float:
    """Return how much the sum of the reference's means exceeds the true sum, except with `risk`.

    The normal bound of the sum, plus the bound of Bernstein's inequality for trials without any
    variance: with m trials that are all equal, a mean can be off by log(1 / risk) / m.
    """
    trials = len(clusters[0][0].reference)
    totals = (
        [fsum(c.reference[k] for c in cluster) for k in range(trials)] for cluster in clusters
    )
    deviation = sqrt(fsum(variance(total) for total in totals) / trials)
    return NormalDist().inv_cdf(1 - risk) * deviation + log(1 / risk) / trials


def _drop(cluster: Sequence[Observed], part: int, parts: int) -> float:
    """Return the drop of one of the equal parts that the trials of each case are shared out to."""
    return fsum(fmean(case.reference) - fmean(case.head[part::parts]) for case in cluster)


def _start(gains: Sequence[float]) -> int:
    """Return where the sum of the gains up to the last night is largest, the earliest if equal."""
    sums = list(accumulate(reversed(gains)))
    return len(sums) - 1 - max(range(len(sums)), key=lambda n: (sums[n], n)) if sums else 0
