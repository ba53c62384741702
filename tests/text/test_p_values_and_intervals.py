"""Exact tests: against every choice of signs, and against the published tables of Student's t."""

from itertools import product
from math import comb, erfc, sqrt
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.text import p_values_and_intervals as significance

HUNDREDTHS = st.integers(-100, 100).map(lambda step: step / 100)
OF_VERDICTS = st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0])


def by_counting(differences: list[float]) -> float:
    steps = [round(d * 100) for d in differences]
    totals = [
        sum(s * sign for s, sign in zip(steps, signs, strict=True))
        for signs in product((1, -1), repeat=len(steps))
    ]
    return sum(abs(total) >= abs(sum(steps)) for total in totals) / len(totals)


@given(st.lists(HUNDREDTHS, max_size=9) | st.lists(OF_VERDICTS, max_size=9))
def test_p_value_counts_every_choice_of_signs(differences: list[float]) -> None:
    assert significance.p_value(differences) == pytest.approx(by_counting(differences), abs=1e-12)


@given(st.lists(HUNDREDTHS, max_size=30))
def test_p_value_has_no_direction_and_ignores_what_did_not_change(differences: list[float]) -> None:
    found = significance.p_value(differences)
    assert 0 < found <= 1
    assert significance.p_value([-d for d in differences]) == found
    assert significance.p_value([*differences, 0.0, 0.0]) == found


@pytest.mark.parametrize(
    ("differences", "expected"),
    [
        ([], 1.0),
        ([0.0, 0.0], 1.0),
        ([-1.0], 1.0),
        ([-1.0, 1.0], 1.0),
        ([-0.2] * 5, 0.0625),
        ([-0.2] * 6, 0.03125),
        ([-0.01] * 6, 0.03125),
        ([-0.01] * 5 + [0.01], 0.21875),  # 14 of 64
        ([-0.02] * 6, 0.03125),
        ([0.02] * 18 + [-0.02] * 17, 1.0),  # C(35, 17), more than 2**32, choices have one sum
        ([-0.5, -0.4, -0.3, -0.2, -0.1, 0.05], 0.0625),
        ([-0.1] * 600, 1.67417e-132),  # z = √600
        ([-0.1] * 320 + [0.3] * 280, 1.7111e-22),  # z = 52 / √28.4
        ([0.01] * 350 + [-0.01] * 147 + [-0.02] * 104, 0.86857),  # z = -5 / √913
    ],
)
def test_p_value(differences: list[float], expected: float) -> None:
    assert significance.p_value(differences) == pytest.approx(expected, rel=1e-3)


def test_five_hundred_differences_are_counted_and_one_more_is_approximated() -> None:
    binomial = 2 * sum(comb(500, k) for k in range(260, 501)) / 2**500
    counted = significance.p_value([0.01] * 260 + [-0.01] * 240)
    assert counted == pytest.approx(binomial, rel=1e-9)
    approximated = significance.p_value([0.01] * 261 + [-0.01] * 240)
    assert approximated == pytest.approx(erfc(21 / sqrt(2 * 501)), rel=1e-9)
    assert counted - approximated > 0.02  # either could not be taken for the other


@pytest.mark.parametrize(
    ("freedom", "expected"),
    [
        (1, 12.706),
        (2, 4.303),
        (3, 3.182),
        (4, 2.776),
        (5, 2.571),
        (9, 2.262),
        (10, 2.228),
        (29, 2.045),
        (30, 2.042),
        (100, 1.984),
        (10_000, 1.960),
    ],
)
def test_t_quantile(freedom: int, expected: float) -> None:
    assert significance.t_quantile(freedom) == pytest.approx(expected, abs=5e-4)


def test_t_quantile_of_another_confidence() -> None:
    assert significance.t_quantile(10, 0.99) == pytest.approx(3.169, abs=5e-4)
    assert significance.t_quantile(10, 0.5) == pytest.approx(0.700, abs=5e-4)


def test_the_standard_errors_of_an_interval() -> None:
    assert pytest.approx(1.959963984540054) == significance.Z


@pytest.mark.parametrize(
    ("differences", "expected"),
    [
        pytest.param([], 1.0, id="none"),
        pytest.param([-1.0], 1.0, id="one"),
        pytest.param([0.0] * 100_000, 1.0, id="100,000 that are equal"),
        pytest.param([-0.1, 0.1] * 50_000, 1.0, id="100,000 that cancel"),
        pytest.param([-0.1] * 100_000, significance.LEAST, id="p underflows and is not 0"),
        pytest.param([-1.0] * 500, 2 * 0.5**500, id="the largest that is counted"),
    ],
)
def test_p_value_at_the_extremes(differences: list[float], expected: float) -> None:
    assert significance.p_value(differences) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("clusters", [50, 200])  # in what time: test_extremes.py
def test_large_sums_of_clusters_are_counted_in_larger_steps(clusters: int) -> None:
    chance = Random(clusters)
    sums = [chance.gauss(-1, 15) for _ in range(clusters)]
    found = significance.p_value(sums)
    assert found == pytest.approx(
        erfc(abs(sum(sums)) / sqrt(2 * sum(d * d for d in sums))), abs=0.01
    )


@pytest.mark.parametrize(
    ("differences", "expected"),
    [
        pytest.param([1.0] * 6, 0.037, id="six that rise from 0 to 1"),
        pytest.param([1.0] * 5, 0.0678, id="five"),
        pytest.param([-1.0] * 6, 0.037, id="six that fall"),
        pytest.param([0.1] * 10, 0.522, id="ten that rise by a little"),
        pytest.param([1.0] * 9 + [-1.0], 0.0632, id="nine and a loss"),
        pytest.param([], 1.0, id="none"),
        pytest.param([0.0] * 9, 1.0, id="equal"),
    ],
)
def test_a_bound_of_the_mean(differences: list[float], expected: float) -> None:
    assert significance.bound_of_mean(differences) == pytest.approx(expected, rel=0.02)


def test_skewed_differences_without_a_mean_are_seldom_significant() -> None:
    """Nine of ten cases rise by 0.1 and one falls by 0.9: sign flips alone are red in a third."""
    chance, flips, both = Random(0), 0, 0
    for _ in range(500):
        drawn = [-0.9 if chance.random() < 0.1 else 0.1 for _ in range(8)]
        red = significance.p_value(drawn) < 0.05
        flips += red
        both += red and significance.bound_of_mean(drawn) < 0.05
    assert flips > 150
    assert both <= 25
