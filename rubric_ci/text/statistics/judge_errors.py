"""Judges that err: independent votes of several, and the pass rate of people after a move.

Kish's design effect: k votes with a mean correlation r are worth k / (1 + (k - 1) r) votes.

With r the judged rate of the draws, A the share of its passes that people confirm and B the share
of its fails that they overturn, the judge passes s = rA / (rA + (1 - r)B) of the good answers and
f = r(1 - A) / (r(1 - A) + (1 - r)(1 - B)) of the others. Where these stay, a judged rate q means
p = (q - f) / (s - f) (Rogan and Gladen, American Journal of Epidemiology 107, 1978).
"""

from collections.abc import Sequence
from itertools import combinations
from math import fsum, sqrt
from operator import mul, sub
from typing import Final

from rubric_ci.values.dataclass import dataclass

FEWEST: Final = 20  # rows: below, the correlation says little
STEP: Final = 1e-5  # of a numerical slope


def effective_votes(rows: Sequence[Sequence[float]]) -> float | None:
    """Return the number of independent votes, 1 to k; None if there are too few rows.

    A row has one number per judge: the errors of their marks, less the mean error of the judge for
    equal marks of the person. Else the answers that a person fails, where each judge can only err
    upwards, would make independent errors look alike. Judges that never differ from 0 have no
    correlation, and their number stays.
    """
    if len(rows) < FEWEST:
        return None
    judges = [*zip(*rows, strict=True)]
    found = [_correlation(one, other) for one, other in combinations(judges, 2)]
    mean = max(0.0, fsum(found) / max(1, len(found)))
    return len(judges) / (1 + (len(judges) - 1) * mean)


def centred(rows: Sequence[Sequence[float]]) -> list[list[float]]:
    """Return the numbers less the mean of their judge."""
    means = [fsum(column) / len(rows) for column in zip(*rows, strict=True)]
    return [list(map(sub, row, means)) for row in rows]


def _correlation(one: Sequence[float], other: Sequence[float]) -> float:
    both = fsum(map(mul, one, other))
    size = sqrt(fsum(a * a for a in one) * fsum(b * b for b in other))
    return both / size if size else 0.0


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
