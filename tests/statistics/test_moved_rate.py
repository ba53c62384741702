"""The pass rate of people after a move, against a computation by hand."""

import pytest

from rubric_ci.statistics.moved_rate import Measured, estimate


def exactly(value: float) -> Measured:
    return Measured(value=value, variance=0.0)


def test_the_rate_of_people() -> None:
    """Of 100 answers 80 are good; the judge passes 76 of these and 2 of the other 20."""
    confirmed, overturned = 76 / 78, 4 / 22
    moved = 0.95 * 0.6 + 0.1 * 0.4  # people pass 0.6 now
    found, error = estimate(exactly(moved), exactly(0.78), exactly(confirmed), exactly(overturned))
    assert found == pytest.approx(0.6)
    assert error == 0.0


def test_the_error_of_the_judged_rate_is_stretched() -> None:
    judged = Measured(value=0.61, variance=0.0004)
    _, error = estimate(judged, exactly(0.78), exactly(76 / 78), exactly(4 / 22))
    assert error == pytest.approx(0.02 / (0.95 - 0.1), rel=1e-4)


def test_a_judge_that_says_nothing_has_the_rate_of_the_draw() -> None:
    found, _ = estimate(exactly(0.9), exactly(0.5), exactly(0.5), exactly(0.5))
    assert found == pytest.approx(0.5)
