"""Tests of paired scores, and the quantiles of Student's t."""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from math import atan, comb, cos, erfc, exp, fsum, gcd, inf, log, pi, sin, sqrt
from statistics import NormalDist
from typing import Final

CONFIDENCE: Final = 0.95  # of every interval that is shown, two-sided
PERCENT: Final = f"{100 * CONFIDENCE:g} %"
SIGNIFICANT: Final = round(1 - CONFIDENCE, 9)  # a change of the mean score is, below this p-value
Z: Final = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)  # standard errors of a normal distribution
STEPS = 100  # scores are compared in hundredths; the sum of the differences stays exact
MOST_STEPS: Final = 50_000  # of all differences: beyond, the steps are larger, which take less time
LEAST: Final = 2.0**-1022  # no p-value is 0, however small
MANY_FREEDOM: Final = 1000  # degrees of freedom; above, Student's t is the normal distribution
MANY = 500  # differing cases; above this the sum is compared with a normal distribution
_BETS: Final = (0.25, 0.5, 0.75, 1.0)


def p_value(differences: Sequence[float]) -> float:
    """Return the two-sided p-value of the null hypothesis that the mean difference is 0.

    An exact paired permutation test over the signs of the differences (Fisher, The Design of
    Experiments, 1935, section 21). Above `MANY` differences d, the normal approximation of the
    same permutation: their sum has mean 0 and variance Σd², so z = Σd / √Σd². Large differences, as
    of clusters, are compared in larger steps: the test of these is as exact.
    """
    steps = _steps(differences, STEPS)
    if len(steps) > MANY:
        found = erfc(abs(sum(steps)) / sqrt(2 * sum(step * step for step in steps)))
        return max(LEAST, found)
    total = sum(map(abs, steps))
    if total > MOST_STEPS:
        steps = _steps(differences, STEPS * MOST_STEPS / total)
    sizes = [abs(step) for step in steps]
    return max(LEAST, _p_value(sum(sizes), sum(s for s in steps if s > 0), sizes))


def _steps(differences: Sequence[float], per_unit: float) -> list[int]:
    return [step for d in differences if (step := round(d * per_unit))]


def bound_of_mean(differences: Sequence[float]) -> float:
    """Return a bound of the p-value of a mean of 0, for differences of any distribution in -1..1.

    Sign flips assume that differences are symmetric around 0. A product of bets on the direction
    that is seen, Π (1 + λd), has a mean of at most 1 if the mean of the differences is 0
    (Waudby-Smith and Ramdas, arXiv:2010.09686), so that it exceeds 1/p with a probability of p.
    """
    sign = 1 if sum(differences) > 0 else -1
    gains = [_log_product([1 + bet * sign * d for d in differences]) for bet in _BETS]
    best = max(gains)
    mean = best + log(fsum(exp(gain - best) for gain in gains) / len(_BETS))
    return max(LEAST, exp(-max(0.0, mean)))


def _log_product(factors: Sequence[float]) -> float:
    return -inf if min(factors, default=1.0) <= 0 else fsum(map(log, factors))


@cache
def t_quantile(freedom: int, confidence: float = CONFIDENCE) -> float:
    """Return the half-width, in standard errors, that contains `confidence` of Student's t."""
    if freedom > MANY_FREEDOM:
        return NormalDist().inv_cdf((1 + confidence) / 2)
    low, high = 0.0, 1e3
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if _probability(middle, freedom) < confidence else (low, middle)
    return high


def _p_value(total: int, positive: int, sizes: list[int]) -> float:
    """Return the share of sign choices whose sum is as far from 0; `total` is the sum of sizes."""
    far = max(positive, total - positive)
    if 2 * far == total:
        return 1.0
    return float(Fraction(2 * _count_subsets(far, sizes), 2 ** len(sizes)))


def _count_subsets(least: int, sizes: list[int]) -> int:
    """Return the number of subsets whose sizes add up to `least` or more.

    One large integer counts the subsets of each sum, in a slot of bits per sum; adding a size to
    every sum is a shift. The slots are as many as multiples of the sizes' greatest common divisor:
    verdicts differ by 50 or 100 steps.
    """
    unit = gcd(*sizes)
    if unit > 1:
        return _count_subsets(-(-least // unit), [size // unit for size in sizes])
    if set(sizes) == {1}:
        return sum(comb(len(sizes), k) for k in range(least, len(sizes) + 1))
    width = len(sizes) // 8 + 1  # bytes for 2 ** len(sizes)
    counts = 1
    for size in sizes:
        counts += counts << (size * width * 8)
    slots = (counts >> (least * width * 8)).to_bytes((sum(sizes) - least + 1) * width, "little")
    return sum(int.from_bytes(slots[i : i + width], "little") for i in range(0, len(slots), width))


def _probability(t: float, freedom: int) -> float:
    """Return the probability of -t..t, by the finite series for whole degrees of freedom.

    Abramowitz and Stegun, 26.7.3 and 26.7.4.
    """
    angle = atan(t / sqrt(freedom))
    odd = freedom % 2
    term = cos(angle) if odd else 1.0
    terms = [term] if freedom > 1 else []
    for k in range(2 + odd, freedom - 1, 2):
        term *= cos(angle) ** 2 * (k - 1) / k
        terms.append(term)
    series = sin(angle) * fsum(terms)
    return 2 / pi * (angle + series) if odd else series
