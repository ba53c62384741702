"""Two scores of each of several cases: whether one set is lower than chance can make it."""

from collections.abc import Sequence
from fractions import Fraction
from math import atan, comb, cos, fsum, pi, sin, sqrt

STEPS = 100  # scores are compared in hundredths; the sum of the differences stays exact
MANY = 500  # differing cases; beyond that their signs alone are counted


def p_value(differences: Sequence[float]) -> float:
    """Return how often chance alone gives a total as far from 0 as this one, either way.

    Exact: each difference is as likely to have the other sign (a paired permutation test); over
    `MANY` differences, the sign test.
    """
    steps = [step for d in differences if (step := round(d * STEPS))]
    if len(steps) > MANY:
        return _as_far(len(steps), sum(step > 0 for step in steps), [1] * len(steps))
    return _as_far(sum(map(abs, steps)), sum(s for s in steps if s > 0), [abs(s) for s in steps])


def interval(differences: Sequence[float]) -> tuple[float, float] | None:
    """Return the 95 % interval of the mean difference (Student's t); one case determines none.

    Scores lie in 0..1, so what lies outside of -1..1 is no part of it.
    """
    n = len(differences)
    if n < 2:
        return None
    mean = fsum(differences) / n
    variance = fsum((d - mean) ** 2 for d in differences) / (n - 1)
    reach = t_quantile(n - 1) * sqrt(variance / n)
    return max(-1.0, mean - reach), min(1.0, mean + reach)


def t_quantile(freedom: int, confidence: float = 0.95) -> float:
    """Return the half-width, in standard errors, that holds `confidence` of Student's t."""
    low, high = 0.0, 1e3
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, freedom) < confidence else (low, middle)
    return high


def _as_far(total: int, ups: int, sizes: list[int]) -> float:
    """Count the ways to choose signs whose total is as far from 0; `total` is the sizes' sum."""
    far = max(ups, total - ups)
    if 2 * far == total:
        return 1.0
    return float(Fraction(2 * _ways(far, sizes), 2 ** len(sizes)))


def _ways(least: int, sizes: list[int]) -> int:
    """Count the subsets whose sizes add up to `least` or more.

    One large number holds how many subsets have each sum, a slot of bits per sum; adding one size
    to every sum is a shift.
    """
    if set(sizes) == {1}:
        return sum(comb(len(sizes), k) for k in range(least, len(sizes) + 1))
    width = len(sizes) // 8 + 1  # bytes that hold 2 ** len(sizes)
    counts = 1
    for size in sizes:
        counts += counts << (size * width * 8)
    slots = (counts >> (least * width * 8)).to_bytes((sum(sizes) - least + 1) * width, "little")
    return sum(int.from_bytes(slots[i : i + width], "little") for i in range(0, len(slots), width))


def _within(t: float, freedom: int) -> float:
    """Return the probability of -t..t, as the finite series for whole degrees of freedom.

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
