"""Judges that err: the independent votes of several.

Kish's design effect: k votes with a mean correlation r are worth k / (1 + (k - 1) r) votes.
"""

from collections.abc import Sequence
from itertools import combinations
from math import fsum, sqrt
from operator import mul, sub
from typing import Final

FEWEST: Final = 20  # rows: below, the correlation says little


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
