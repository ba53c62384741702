"""How much numbers differ from each other.

`statistics.variance` adds fractions, which takes ten times as long.
"""

from collections.abc import Sequence
from math import fsum
from statistics import fmean


def variance(values: Sequence[float]) -> float:
    """Return the variance of a sample of two or more; exactly 0 if all are equal."""
    moved = [value - values[0] for value in values]
    mean = fmean(moved)
    return fsum((each - mean) ** 2 for each in moved) / (len(moved) - 1)
