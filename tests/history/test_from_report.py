"""The intervals of a run agree with scipy, and clusters widen them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rubric_ci.history.from_report import mean_interval, rate_interval
from rubric_ci.history.record import Interval


@given(st.integers(1, 400), st.data())
def test_a_rate_has_wilsons_interval(n: int, data: st.DataObject) -> None:
    passed = data.draw(st.integers(0, n))
    found = rate_interval([[1.0]] * passed + [[0.0]] * (n - passed))
    low, high = stats.binomtest(passed, n).proportion_ci(method="wilson")
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-4)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=30).filter(lambda v: max(v) - min(v) > 0.01))
def test_a_mean_has_students_interval(scores: list[float]) -> None:
    found = mean_interval([[score] for score in scores])
    mean, error = sum(scores) / len(scores), stats.sem(scores)
    low, high = stats.t.interval(0.95, len(scores) - 1, loc=mean, scale=error)
    assert (found.low, found.high) == pytest.approx((max(0, low), min(1, high)), abs=1e-4)


INTERVALS = {
    "one case": ([[0.5]], Interval(value=0.5)),
    "equal scores": ([[1.0]] * 20, Interval(value=1.0)),
}


@given(st.floats(0.1, 50), st.lists(st.lists(st.sampled_from([0.0, 1.0]), min_size=1), min_size=2))
def test_equal_weights_are_none(weight: float, clusters: list[list[float]]) -> None:
    plain = rate_interval(clusters)
    weighted = rate_interval(clusters, [[weight] * len(cluster) for cluster in clusters])
    assert (weighted.value, weighted.low, weighted.high) == pytest.approx(
        (plain.value, plain.low, plain.high), abs=2e-4
    )


@pytest.mark.parametrize(("clusters", "found"), INTERVALS.values(), ids=INTERVALS)
def test_no_interval(clusters: list[list[float]], found: Interval) -> None:
    assert mean_interval(clusters) == found


RATES = {
    "independent cases": ([[1.0]] * 10 + [[0.0]] * 10, (0.2993, 0.7007)),
    "clusters of equal cases count as their number less one": (
        [[1.0] * 5] * 2 + [[0.0] * 5] * 2,
        (0.1253, 0.8747),
    ),
    "one cluster": ([[1.0, 0.0]], (0.0546, 0.9454)),
    "all pass in two clusters": ([[1.0] * 10] * 2, (0.3424, 1.0)),
}


@pytest.mark.parametrize(("clusters", "ends"), RATES.values(), ids=RATES)
def test_clusters_widen_a_rate(clusters: list[list[float]], ends: tuple[float, float]) -> None:
    found = rate_interval(clusters)
    assert (found.low, found.high) == ends
