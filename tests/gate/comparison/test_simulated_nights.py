"""Quiet nights, on small runs of the simulations of benchmarks/regression."""

import pytest

from benchmarks.regression.alike import rates
from benchmarks.regression.merges import red_nights
from benchmarks.regression.nights import Cell, sequence
from benchmarks.regression.simulate import NOISES, TITLES, measure
from benchmarks.regression.simulate import Cell as Suites

pytestmark = pytest.mark.deep


@pytest.mark.parametrize("correlation", [0.0, 0.2])
def test_an_issue_needs_more_than_one_night_that_is_alike(correlation: float) -> None:
    night, issue, _ = rates(20, correlation, nights=5, suites=8)
    assert issue <= 0.05
    assert night <= 0.05 or correlation > 0


def test_merges_make_no_quiet_night_red() -> None:
    assert max(red_nights("beta", 60, seed=0)) <= 0.1


def test_a_judge_that_is_more_lenient_in_some_nights_is_no_issue() -> None:
    """Of these nights 0.3 were an issue when the mean was tested by its cases alone."""
    quiet = [sequence(Cell(cases=100, noise="day 0.3"), seed) for seed in range(4)]
    assert sum(each.issue for each in quiet) / 4 <= 0.05


@pytest.mark.parametrize("noise", NOISES)
def test_a_reference_is_seldom_red_in_every_noise(noise: str) -> None:
    cell = Suites(cases=20, noise=noise, clustered=False, broken=0.0, nights=20)
    found = dict(zip(TITLES, measure(cell), strict=True))
    assert found["**reference, 3**"].red <= 0.1
    assert found["1 and 1 trials"].red >= 0.5  # the noise is there
