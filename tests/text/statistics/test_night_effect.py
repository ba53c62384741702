"""The correlation of the trials of one night."""

from dataclasses import asdict, replace
from random import Random

import pytest

from benchmarks.regression.alike import Suite
from rubric_ci.text.statistics import night_effect
from rubric_ci.text.statistics.night_effect import (
    NightEffect,
    NightMeans,
    Nights,
    means_of,
    measure,
)

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


@pytest.mark.parametrize(
    ("cases", "found"),
    [
        pytest.param([[[1.0], [0.0]]], None, id="two nights"),
        pytest.param(
            [[[1.0, 0.0], [1.0, 0.0], [0.0, 0.0]], [[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]]],
            NightMeans(nights=3, variance=1 / 48, trial=1 / 16, trials=2),
            id="three nights",
        ),
        pytest.param(
            [[[1.0], [0.0], [0.5]]],
            NightMeans(nights=3, variance=0.25, trial=0.25, trials=1),
            id="one trial each",
        ),
        pytest.param(
            [[[1.0] * 3, [0.0] * 3, [1.0] * 3, [0.0] * 3, [1.0] * 3, [0.5] * 3]],
            NightMeans(nights=5, variance=0.3, trial=0.3, trials=3, correlation=1.0),
            id="the first fifteen trials",
        ),
    ],
)
def test_the_means_of_nights(cases: list[Nights], found: NightMeans | None) -> None:
    measured = means_of(cases, 15)
    assert (measured and asdict(measured)) == (found and pytest.approx(asdict(found)))


FIVE = NightMeans(nights=5, variance=0.0004, trial=0.0012, trials=3)


@pytest.mark.parametrize(
    ("trials", "p_value"),
    [
        pytest.param(3, 0.051980, id="as many trials"),
        pytest.param(5, 0.051980, id="more trials do not help against what a night shares"),
        pytest.param(1, 0.104663, id="fewer trials"),
    ],
)
def test_a_further_night_has_students_t(trials: int, p_value: float) -> None:
    """As scipy.stats.t: 4 degrees of freedom, and 28 where two trials of three are missing."""
    assert FIVE.p_value(-0.06, trials) == FIVE.p_value(0.06, trials)
    assert FIVE.p_value(0.06, trials) == pytest.approx(p_value, abs=1e-6)
    assert FIVE.p_value(FIVE.reach(trials), trials) == pytest.approx(0.05, abs=1e-6)


def test_nights_that_do_not_differ_say_nothing() -> None:
    equal = NightMeans(nights=5, variance=0.0, trial=0.0, trials=3)
    assert (equal.p_value(-0.01, 3), equal.reach(3), equal.excess(3)) == (0.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("variance", "trials", "excess"),
    [
        pytest.param(0.0001, 3, 1.0, id="less than the trials explain"),
        pytest.param(0.0004, 3, 1.0, id="as much"),
        pytest.param(0.002, 3, 5.0, id="more"),
        pytest.param(0.002, 1, 0.0028 / 0.0012, id="nights of one trial differ more by themselves"),
        pytest.param(0.002, 12, 0.0017 / 0.0001, id="nights of many trials differ by days alone"),
    ],
)
def test_the_excess_is_the_variance_by_that_of_independent_trials(
    variance: float, trials: int, excess: float
) -> None:
    assert replace(FIVE, variance=variance).excess(trials) == pytest.approx(excess)


@pytest.mark.parametrize(
    ("means", "trials", "variance", "further"),
    [
        pytest.param([], 3, 0.0004, 0.0, id="none"),
        pytest.param([0.9], 3, 0.0004, 0.0, id="one has no night before it"),
        pytest.param([0.9, 0.94, 0.9, 0.94], 3, (0.0016 + 0.0016) / 6, 2.0, id="as they differ"),
        pytest.param([0.9] * 4, 3, 0.0016 / 6, 2.0, id="equal nights"),
        pytest.param([0.9] * 4, 1, 0.0, 2.0, id="equal nights of one trial"),
        pytest.param([0.9, 0.94, 0.9, 0.94], 1, 0.0016 / 6, 2.0, id="of one trial"),
    ],
)
def test_later_nights_add_to_what_is_known(
    means: list[float], trials: int, variance: float, further: float
) -> None:
    """Half of the square of a difference is the variance, for two thirds of a degree."""
    found = FIVE.with_later(means, trials)
    assert (found.variance, found.further) == pytest.approx((variance, further))
    assert found.freedom == pytest.approx(4 + further)


def test_a_slide_hardly_adds_to_the_variance() -> None:
    """0.20 over 80 nights: their own variance would be 0.0034."""
    slide = [1 - 0.0025 * night for night in range(80)]
    assert FIVE.with_later(slide, 3).variance == pytest.approx(0.00003, abs=0.00001)


def test_the_error_of_the_mean_of_all_nights() -> None:
    assert FIVE.reach_of_mean(0.95) == pytest.approx(2.776445 * 0.02 / 5**0.5, abs=1e-6)
