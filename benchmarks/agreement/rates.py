"""How often the interval of a pass rate contains the true rate, where cases are in clusters.

    python -m benchmarks.agreement.rates [--suites 1000]

A cluster has five cases (*uneven*: one to ten) that pass with a chance of the cluster, from a beta
distribution with a correlation of 0.5 within the cluster; *copula*: with normal errors in common
(correlation 0.4); *same*: all cases of a cluster are equal. *normal* is Wilson's interval with the
quantile of the normal distribution. The exit code is 1 if a row of ten clusters or more covers less
than 0.92 less three standard errors, except for rates of 0.95, of which few clusters have a fail.
"""

import argparse
import sys
from itertools import product
from math import sqrt
from statistics import NormalDist
from typing import Final

import numpy as np

from rubric_ci.parts.lab.history import from_report
from rubric_ci.text.statistics.significance import Z

NOISES: Final = ("beta", "uneven", "copula", "same")
CLUSTERS: Final = (5, 10, 20, 40)
RATES: Final = (0.5, 0.8, 0.95)
SIZE: Final = 5  # cases of a cluster
CORRELATION: Final = 0.5
LEAST: Final = 0.92


def drawn(noise: str, count: int, rate: float, random: np.random.Generator) -> list[list[float]]:
    """Return the verdicts of the cases by cluster."""
    if noise == "same":
        return [[float(random.random() < rate)] * SIZE for _ in range(count)]
    if noise == "copula":
        least = NormalDist().inv_cdf(rate)
        common = sqrt(0.4) * random.standard_normal((count, 1))
        errors = common + sqrt(0.6) * random.standard_normal((count, SIZE))
        return [[float(error < least) for error in cluster] for cluster in errors]
    scale = (1 - CORRELATION) / CORRELATION
    chances = random.beta(rate * scale, (1 - rate) * scale, count)
    sizes = random.integers(1, 2 * SIZE + 1, count) if noise == "uneven" else [SIZE] * count
    return [
        [float(drawn) for drawn in random.random(size) < chance]
        for chance, size in zip(chances, sizes, strict=True)
    ]


def with_normal(clusters: list[list[float]]) -> tuple[float, float]:
    """Return Wilson's interval as it was, without Student's t."""
    p, n = from_report.rate_interval(clusters).value, from_report.effective(clusters)
    middle, reach = p + Z * Z / (2 * n), Z * sqrt(p * (1 - p) / n + Z * Z / (4 * n * n))
    return (middle - reach) / (1 + Z * Z / n), (middle + reach) / (1 + Z * Z / n)


def main() -> int:
    """Print a row per noise and size; return 1 if an interval covers too seldom."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suites", type=int, default=1000)
    parser.add_argument("--noise", nargs="+", default=list(NOISES), choices=NOISES)
    options = parser.parse_args()
    suites, missed = options.suites, 0
    print("| noise | clusters | rate | covers | width | normal: covers | width |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for noise, count, rate in product(options.noise, CLUSTERS, RATES):
        random = np.random.default_rng([NOISES.index(noise), count, int(100 * rate)])
        ends = []
        for _ in range(suites):
            clusters = drawn(noise, count, rate, random)
            found = from_report.rate_interval(clusters)
            ends.append((found.low or 0.0, found.high or 1.0, *with_normal(clusters)))
        low, high, before_low, before_high = np.array(ends).T
        covers = float(((low <= rate) & (rate <= high)).mean())
        before = float(((before_low <= rate) & (rate <= before_high)).mean())
        widths = f"{(high - low).mean():.2f}", f"{(before_high - before_low).mean():.2f}"
        cells = f"{covers:.3f} | {widths[0]} | {before:.3f} | {widths[1]}"
        print(f"| {noise} | {count} | {rate} | {cells} |", flush=True)
        missed += covers < LEAST - 3 * sqrt(LEAST * (1 - LEAST) / suites) and rate < RATES[-1]
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
