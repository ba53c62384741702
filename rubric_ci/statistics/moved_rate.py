"""The pass rate of people after a move, from a judge that errs as before.

With r the judged rate of the draws, A the share of its passes that people confirm and B the share
of its fails that they overturn, the judge passes s = rA / (rA + (1 - r)B) of the good answers and
f = r(1 - A) / (r(1 - A) + (1 - r)(1 - B)) of the others. Where these stay, a judged rate q stands
for p = (q - f) / (s - f) (Rogan and Gladen, American Journal of Epidemiology 107, 1978).
"""

from collections.abc import Sequence
from math import fsum, sqrt
from typing import Final

from rubric_ci.model.dataclass import dataclass

STEP: Final = 1e-5  # of a numerical slope


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A share and the variance of its estimate."""

    value: float
    variance: float


def estimate(
    judged: Measured, rate: Measured, confirmed: Measured, overturned: Measured
) -> tuple[float, float]:
    """Return the pass rate of people and its standard error, by the delta method."""
    parts = (judged, rate, confirmed, overturned)
    values = [each.value for each in parts]
    errors = (_slope(values, n) ** 2 * part.variance for n, part in enumerate(parts))
    return _people(values), sqrt(fsum(errors))


def _slope(values: Sequence[float], place: int) -> float:
    high, low = ([v + d * (n == place) for n, v in enumerate(values)] for d in (STEP, -STEP))
    return (_people(high) - _people(low)) / (2 * STEP)


def _people(values: Sequence[float]) -> float:
    q, r, a, b = values
    good, bad = r * a + (1 - r) * b, r * (1 - a) + (1 - r) * (1 - b)
    of_good, of_bad = r * a / good, r * (1 - a) / bad
    return (q - of_bad) / (of_good - of_bad) if of_good > of_bad else good
