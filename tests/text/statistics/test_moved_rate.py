"""The pass rate of people after a move, against a computation by hand."""

from collections.abc import Sequence
from math import hypot

import pytest

from rubric_ci.text.statistics.judge_errors import Measured, estimate


def exactly(value: float) -> Measured:
    return Measured(value=value, variance=0.0)


def test_the_rate_of_people() -> None:
    """Of 100 answers 80 are good; the judge passes 76 of these and 2 of the other 20."""
    confirmed, overturned = 76 / 78, 4 / 22
    moved = 0.95 * 0.6 + 0.1 * 0.4  # people pass 0.6 now
    found, error = estimate(exactly(moved), exactly(0.78), exactly(confirmed), exactly(overturned))
    assert found == pytest.approx(0.6)
    assert error == 0.0


SLOPES = (1 / (0.95 - 0.1), -0.4422048, 1.6173529, 0.1326471)  # of fractions, by hand


@pytest.mark.parametrize("varied", [(0,), (1,), (2,), (3,), (0, 1, 2, 3)])
def test_the_errors_of_the_shares_are_stretched(varied: Sequence[int]) -> None:
    shares = (0.61, 0.78, 76 / 78, 4 / 22)
    parts = (
        Measured(value=share, variance=0.0004 * (n in varied)) for n, share in enumerate(shares)
    )
    _, error = estimate(*parts)
    assert error == pytest.approx(0.02 * hypot(*(SLOPES[n] for n in varied)), rel=1e-6)


def test_a_judge_that_says_nothing_has_the_rate_of_the_draw() -> None:
    found, _ = estimate(exactly(0.9), exactly(0.5), exactly(0.5), exactly(0.5))
    assert found == pytest.approx(0.5)
