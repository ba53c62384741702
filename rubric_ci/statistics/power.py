"""What a comparison of two runs of the same cases can see: the smallest drop, and what it takes.

The mean difference of n cases in k clusters, with K and L trials per case, has the variance
ω² / k + σ² (1/K + 1/L) / n: ω² is the variance of the true differences of the cases, σ² the
variance of one trial, target and judge together (Miller, "Adding Error Bars to Evals",
arXiv:2411.00640, section 5; clusters as independent units, their cases as one). The test of
the mean detects a drop of δ with probability 0.8 if δ = (t(0.975, k - 1) + z(0.8)) √variance. For k
of six and more that is within 0.03 of the power of the noncentral t distribution.

The sign flips of verdicts are coarse: sums of differences that are multiples of 1 / K lie 2 / K
apart, so half of that is added to the drop (a continuity correction), 1 / (K n) in the mean. Scores
between 0 and 1 are finer the smaller their variance, at most 1/4: the correction is times 4 σ².

ω² of a drop cannot be measured before it happens. A case that a change affects is assumed to lose
`LOSS` of its score, so that a drop of δ affects δ / LOSS of the cases and ω² = LOSS δ - δ²; the
measured ω² counts where it is larger.
"""

from dataclasses import dataclass
from functools import cache
from math import ceil, sqrt
from statistics import NormalDist
from typing import Final

from rubric_ci.statistics.significance import SIGNIFICANT, Z, least_clusters, t_quantile

POWER: Final = 0.8
LOSS: Final = 0.5
MOST_CASES: Final = 100_000
MANY: Final = 1000  # clusters; above, Student's t is the normal distribution


@dataclass(frozen=True, slots=True, kw_only=True)
class Variances:
    """The variances of a score between 0 and 1, by what varies."""

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

    None: no drop can be significant, as there are too few clusters or too much noise.
    """
    if design.clusters < least_clusters(SIGNIFICANT) or not _sees(1.0, design, variances):
        return None
    low, high = 0.0, 1.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (low, middle) if _sees(middle, design, variances) else (middle, high)
    return high


def cases_needed(drop: float, trials: int, variances: Variances) -> int | None:
    """Return the number of independent cases that detect a drop, with the same trials in both runs.

    None: more than `MOST_CASES`.
    """
    low, high = least_clusters(SIGNIFICANT) - 1, MOST_CASES
    if not _sees(drop, _independent(high, trials), variances):
        return None
    while high - low > 1:
        middle = ceil((low + high) / 2)
        seen = _sees(drop, _independent(middle, trials), variances)
        low, high = (low, middle) if seen else (middle, high)
    return high


def _independent(cases: int, trials: int) -> Design:
    return Design(cases=cases, clusters=cases, trials=trials, reference_trials=trials)


def _sees(drop: float, design: Design, variances: Variances) -> bool:
    between = max(variances.cases, LOSS * drop - drop**2)
    noise = variances.trial * (1 / design.trials + 1 / design.reference_trials)
    error = sqrt(between / design.clusters + noise / design.cases)
    steps = max(design.trials, design.reference_trials) * design.cases
    coarse = 4 * variances.trial / steps
    return drop >= (_critical(design.clusters) + NormalDist().inv_cdf(POWER)) * error + coarse


@cache
def _critical(clusters: int) -> float:
    if clusters > MANY:
        return Z
    return t_quantile(clusters - 1)
