"""The intervals of a run against scipy, on results drawn at random.

It is imported by its tests alone, which takes 3 s: every worker imports this module.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.parts.lab.history.from_report import mean_interval, rate_interval

pytestmark = pytest.mark.deep


@given(st.integers(1, 400), st.data())
def test_a_rate_has_wilsons_interval(n: int, data: st.DataObject) -> None:
    from scipy import stats

    passed = data.draw(st.integers(0, n))
    found = rate_interval([[1.0]] * passed + [[0.0]] * (n - passed))
    low, high = stats.binomtest(passed, n).proportion_ci(method="wilson")
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-4)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=30).filter(lambda v: max(v) - min(v) > 0.01))
def test_a_mean_has_students_interval(scores: list[float]) -> None:
    from scipy import stats

    found = mean_interval([[score] for score in scores])
    mean, error = sum(scores) / len(scores), stats.sem(scores)
    low, high = stats.t.interval(0.95, len(scores) - 1, loc=mean, scale=error)
    assert (found.low, found.high) == pytest.approx((max(0, low), min(1, high)), abs=1e-4)
