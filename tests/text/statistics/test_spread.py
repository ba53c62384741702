"""The variance of a sample, by that of Python, which is exact."""

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.text.statistics.spread import variance

SCORES = st.lists(st.floats(0, 1), min_size=2, max_size=40)


@given(SCORES)
def test_it_is_the_variance(scores: list[float]) -> None:
    assert variance(scores) == pytest.approx(statistics.variance(scores), rel=1e-9, abs=1e-15)


@given(st.floats(0, 1), st.integers(2, 40))
def test_equal_scores_do_not_vary(score: float, count: int) -> None:
    assert variance([score] * count) == 0


def test_two_marks() -> None:
    assert variance([0.0, 1.0]) == 0.5
