"""The correlation of the trials of one night."""

from random import Random

import pytest

from benchmarks.regression.alike import Suite
from rubric_ci.statistics import night_effect
from rubric_ci.statistics.night_effect import NightEffect, Nights, measure

ONE_NIGHT_FAILS: Nights = [[1, 1, 1], [1, 1, 1], [0, 0, 0]]
HALVES: Nights = [[1, 0.5], [1, 0.5], [0, 0.5]]
ALTERNATING: Nights = [[1, 0], [1, 0], [1, 0]]


@pytest.mark.parametrize(
    ("cases", "found"),
    [
        pytest.param([], None, id="no case"),
        pytest.param([[[1, 0], [1, 0]]], None, id="two nights"),
        pytest.param([[[1], [0], [1]]], None, id="one trial a night"),
        pytest.param([[[1, 1], [1, 1], [1, 1]]], None, id="no noise"),
        pytest.param([ONE_NIGHT_FAILS] * 6, NightEffect(correlation=1.0, clear=True), id="alike"),
        pytest.param([ONE_NIGHT_FAILS] * 5, NightEffect(correlation=1.0, clear=False), id="few"),
        pytest.param([ALTERNATING] * 9, NightEffect(correlation=-1.0, clear=False), id="unlike"),
    ],
)
def test_the_effect(cases: list[Nights], found: NightEffect | None) -> None:
    assert measure(cases) == found


def test_scores_count_with_their_squares() -> None:
    found = measure([HALVES] * 9)
    assert found
    assert found.correlation == pytest.approx(1 / 7)


@pytest.mark.parametrize(("correlation", "low", "high"), [(0.0, 0.0, 0.05), (0.2, 0.95, 1.0)])
def test_it_is_clear_where_nights_are_alike(correlation: float, low: float, high: float) -> None:
    clear = []
    for seed in range(40):
        suite = Suite(200, correlation, Random(f"{correlation} {seed}"))
        nights = [suite.night() for _ in range(5)]
        cases = [
            [[t.score for t in suite.trials(n, night, 3)] for night in nights] for n in range(200)
        ]
        found = night_effect.measure(cases)
        assert found
        assert found.correlation == pytest.approx(correlation, abs=0.12)
        clear.append(found.clear)
    assert low <= sum(clear) / len(clear) <= high
