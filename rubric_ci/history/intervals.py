"""95 % intervals of a mean score and of a pass rate over cases, with clusters."""

from collections.abc import Sequence
from math import fsum, sqrt
from typing import Final

from rubric_ci.history.record import Interval
from rubric_ci.statistics import significance

Z: Final = 1.959963984540054  # of the standard normal distribution, 0.975


def mean_interval(clusters: Sequence[Sequence[float]]) -> Interval:
    """Return the mean of scores and its interval (Student's t over clusters), within 0..1.

    Equal scores have none: their variance says nothing about the cases that were not drawn.
    """
    mean = round(_mean(clusters), 6)
    found = significance.interval(clusters)
    varied = found is not None and found[0] < found[1]
    return _interval(mean, *found) if found and varied else Interval(value=mean)


def rate_interval(clusters: Sequence[Sequence[float]]) -> Interval:
    """Return a share of 0/1 values and its Wilson score interval.

    (p + z²/2n ± z √(p (1 - p) / n + z²/4n²)) / (1 + z²/n) (Wilson, "Probable Inference", Journal of
    the American Statistical Association 22, 1927). With clusters, n is divided by the design
    effect, the variance between clusters over that of independent cases (Kish, Survey Sampling,
    1965); where all values are equal it is unknown, and n is the number of clusters.
    """
    p, n = _mean(clusters), _effective(clusters)
    middle = p + Z * Z / (2 * n)
    reach = Z * sqrt(p * (1 - p) / n + Z * Z / (4 * n * n))
    scale = 1 + Z * Z / n
    return _interval(round(p, 6), (middle - reach) / scale, (middle + reach) / scale)


def rate_variance(clusters: Sequence[Sequence[float]]) -> float:
    """Return p (1 - p) / n of a share of 0/1 values, with the n of `rate_interval`."""
    p = _mean(clusters)
    return p * (1 - p) / _effective(clusters)


def _interval(value: float, low: float, high: float) -> Interval:
    return Interval(value=value, low=round(max(0.0, low), 4), high=round(min(1.0, high), 4))


def _mean(clusters: Sequence[Sequence[float]]) -> float:
    return fsum(value for cluster in clusters for value in cluster) / sum(map(len, clusters))


def _effective(clusters: Sequence[Sequence[float]]) -> float:
    """Return the number of independent cases that are worth as much."""
    k, n = len(clusters), sum(map(len, clusters))
    if k == n:
        return n
    p = _mean(clusters)
    if k == 1 or p in {0.0, 1.0}:
        return k
    between = k / (k - 1) * fsum(fsum(v - p for v in cluster) ** 2 for cluster in clusters) / n**2
    return n / max(1.0, between / (p * (1 - p) / n))
