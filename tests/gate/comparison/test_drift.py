"""The detector of slow slides."""

from dataclasses import replace
from itertools import accumulate
from math import exp, fsum
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.gate.comparison import drift
from rubric_ci.gate.comparison.drift import Observed
from rubric_ci.text.statistics.night_effect import NightMeans

BUDGET = 0.05
BETS = len(drift.BETS)


def nights(
    seed: int, *, cases: int, nights: int, slide: float = 0.0, trials: int = 1, size: int = 1
) -> list[tuple[float, ...]]:
    """Return the products of nights whose share of good answers falls by `slide` each night.

    A case fails with a probability of its own, 0.02 to 0.2; `size` cases are a cluster.
    """
    random = Random(seed)
    chances = [random.uniform(0.02, 0.2) for _ in range(cases)]

    def trial(chance: float) -> float:
        return float(random.random() >= chance)

    reference = [[trial(chance) for _ in range(15)] for chance in chances]

    def observed(night: int) -> list[list[Observed]]:
        chosen = zip(chances, reference, strict=True)
        every = [
            Observed(head=[trial(chance + slide * night) for _ in range(trials)], reference=kept)
            for chance, kept in chosen
        ]
        return [every[n : n + size] for n in range(0, cases, size)]

    return [drift.log_products(observed(night), BUDGET) for night in range(nights)]


def first_alarm(products: list[tuple[float, ...]]) -> int | None:
    """Return the night of the first alarm, from 1."""
    states = (drift.detect(products[:n], BUDGET).detected for n in range(1, len(products) + 1))
    return next((n for n, detected in enumerate(states, 1) if detected), None)


def test_quiet_nights_raise_no_alarm() -> None:
    """The bound is one sequence of 200 nights in twenty; benchmarks/regression counts more."""
    assert [first_alarm(nights(seed, cases=40, nights=200)) for seed in range(3)] == [None] * 3


def test_a_slide_of_a_fifth_over_80_nights_is_found() -> None:
    """From 1.00 to 0.80 of the answers that were good; a single night loses 0.0025."""
    found = [first_alarm(nights(seed, cases=100, nights=80, slide=0.0025)) for seed in range(2)]
    assert found == [43, 28]


def test_a_slide_of_few_clusters_is_found() -> None:
    """Each of three trials is a bet, and a bet may be as large as it cannot lose the stake."""
    found = [
        first_alarm(nights(seed, cases=20, nights=80, slide=0.0025, trials=3, size=5))
        for seed in range(5)
    ]
    assert found == [55, 49, 57, 56, 45]


def test_the_alarm_ends_when_the_scores_are_back() -> None:
    bad = nights(1, cases=60, nights=30, slide=0.02)
    good = nights(1, cases=60, nights=30)
    states = [drift.detect([*bad, *good[:n]], BUDGET).detected for n in range(30)]
    assert states[0]
    assert not any(states[5:])


def test_the_start_is_where_the_scores_fell() -> None:
    quiet, worse = nights(2, cases=60, nights=20), nights(2, cases=60, nights=10, slide=0.05)
    found = drift.detect([*quiet, *worse], BUDGET)
    assert found.detected
    assert 20 <= found.start <= 23


def test_without_nights_there_is_no_evidence() -> None:
    assert drift.detect([], BUDGET) == drift.Slide(evidence=0, threshold=8000, start=0)
    assert drift.log_products([], BUDGET) == ()


@pytest.mark.parametrize("size", [1, 5])
def test_the_allowance_covers_a_reference_without_variance(size: int) -> None:
    """Fifteen perfect trials do not show that a case never fails: one failure is no evidence."""
    perfect = [Observed(head=(1.0,), reference=(1.0,) * 15) for _ in range(20)]
    one_failed = [Observed(head=(0.0,), reference=(1.0,) * 15), *perfect[1:]]
    clusters = [one_failed[n : n + size] for n in range(0, 20, size)]
    evidence = drift.detect([drift.log_products(clusters, BUDGET)], BUDGET).evidence
    assert evidence < 2


def test_each_trial_is_evidence() -> None:
    """If their numbers differ, each case has as many parts as the case with the fewest."""
    reference = (1.0, 0.0) * 7 + (1.0,)
    one = [Observed(head=(0.0, 1.0, 0.0), reference=reference)]
    few = [Observed(head=(0.0, 1.0), reference=reference)]
    three = drift.log_products([one, one], BUDGET)
    assert three != drift.log_products([one, few], BUDGET)
    mean = [Observed(head=(1 / 3,), reference=reference)]
    alone = [Observed(head=(0.5,), reference=reference)]
    assert drift.log_products([mean, alone], BUDGET) == drift.log_products([one, alone], BUDGET)


def test_nights_that_differ_are_less_evidence() -> None:
    """The allowance is at least the error of the mean of the nights, and the excess divides."""
    reference = (1.0, 0.0) * 7 + (1.0,)
    clusters = [[Observed(head=(0.0,) * 3, reference=reference)] for _ in range(20)]
    alone = drift.log_products(clusters, BUDGET)
    means = NightMeans(nights=5, variance=0.00001, trial=0.0125, trials=3)
    assert drift.log_products(clusters, BUDGET, means) == alone
    twice = replace(means, trial=3 * 0.000005)
    half = pytest.approx([each / 2 for each in alone], abs=2e-6)
    assert drift.log_products(clusters, BUDGET, twice) == half
    wide = replace(means, variance=1.0, trial=3.0)
    assert max(drift.log_products(clusters, BUDGET, wide)) < 0


def test_the_error_of_nights_is_of_cases_and_the_allowance_of_clusters() -> None:
    """Two clusters of a case each allow as much as one cluster of both."""
    case = Observed(head=(0.5,), reference=(0.5,) * 15)
    means = NightMeans(nights=5, variance=0.05, trial=0.15, trials=3)
    one, two = (
        drift.log_products([[case, case]], BUDGET, means),
        drift.log_products([[case], [case]], BUDGET, means),
    )
    assert two == pytest.approx([2 * p for p in one], abs=2e-6)


ONE = Observed(head=(0.5, 0.9, 0.4), reference=(1.0, 0.8, 0.9, 0.7))
TWO = Observed(head=(0.2, 0.6), reference=(0.4, 0.8, 0.6, 1.0))
THREE = Observed(head=(1.0, 0.0), reference=(0.9, 0.9, 1.0, 0.6))
APART = NightMeans(nights=5, variance=0.2, trial=0.3, trials=3)
ALIKE = NightMeans(nights=5, variance=0.0002, trial=0.0003, trials=3)
OF_TWO = (-0.003552, -0.007256, -0.015119, -0.032684, -0.075327, -0.192996, -0.362148)


@pytest.mark.parametrize(
    ("clusters", "budget", "means", "products"),
    [
        pytest.param([[ONE], [TWO, THREE]], 0.1, None, OF_TWO, id="two clusters"),
        pytest.param(
            [[ONE], [TWO, THREE]],
            0.02,
            None,
            (-0.015755, -0.031667, -0.063974, -0.130589, -0.272507, -0.598143, -1.0004),
            id="a smaller budget",
        ),
        pytest.param(
            [[ONE, TWO, THREE]],
            0.1,
            None,
            (-0.00041, -0.000821, -0.001647, -0.003317, -0.006725, -0.013815, -0.021279),
            id="one cluster",
        ),
        pytest.param(
            [[ONE], [TWO, THREE]],
            0.1,
            APART,
            (-0.007859, -0.015807, -0.031976, -0.065441, -0.137225, -0.30377, -0.511515),
            id="nights that differ",
        ),
        pytest.param(
            [[ONE], [TWO, THREE]],
            0.1,
            ALIKE,
            (-0.002131, -0.004353, -0.009072, -0.019611, -0.045196, -0.115798, -0.217289),
            id="nights of two trials that differ by little, and by more than these explain",
        ),
    ],
)
def test_the_products_of_a_night(
    clusters: list[list[Observed]],
    budget: float,
    means: NightMeans | None,
    products: tuple[float, ...],
) -> None:
    """Computed apart, from the formulas of the module."""
    assert drift.log_products(clusters, budget, means) == products


HIGH = (101.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("products", "evidence", "start"),
    [
        ([(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7), (-0.1, 0, 0.1, 0.2, 0.3, -0.4, -0.5)], 2.437402, 0),
        ([HIGH], (20 + 20 + 5) / 7, 0),
        ([(101.0,) * 7], 20.0, 0),
        ([(101.0,) * 7] * 2, 420.0, 0),
        ([(101.0,) * 7] * 3, 8000, 0),
        ([(-1.0,) * 7, (1.0,) * 7, (-0.5,) * 7, (1.0,) * 7], 10.497413, 1),
        ([(1.0,) * 7, (-1.0,) * 7, (1.0,) * 7], 6.436564, 0),
        ([(1.0,) * 7, (-2.0,) * 7, (1.0,) * 7], 4.086161, 2),
        ([(1.0,) * 6 + (-1.0,), (1.0,) * 7], (6 * 10.107338 + 3.718282) / 7, 0),
    ],
)
def test_the_evidence_of_some_nights(
    products: list[tuple[float, ...]], evidence: float, start: int
) -> None:
    found = drift.detect(products, BUDGET)
    assert found.evidence == pytest.approx(evidence, rel=1e-6)
    assert (found.start, found.detected) == (start, evidence == 8000)


def test_nights_of_other_bets_are_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        drift.detect([(1.0,) * (BETS - 1)], BUDGET)


@given(st.lists(st.floats(0, 1), min_size=15, max_size=15))
def test_products_of_a_fair_night_are_at_most_one_in_expectation(reference: list[float]) -> None:
    """A head that is drawn from the reference's own trials is no drop."""
    products = [
        drift.log_products([[Observed(head=[head], reference=reference)]], BUDGET)
        for head in reference
    ]
    for bet in zip(*products, strict=True):
        assert fsum(map(exp, bet)) / len(bet) <= 1 + 1e-6


@given(st.lists(st.lists(st.floats(-2000, 5), min_size=BETS, max_size=BETS), max_size=20))
def test_the_evidence_is_at_most_that_of_a_detector_without_a_limit(
    products: list[list[float]],
) -> None:
    found = drift.detect(products, BUDGET)
    unlimited = [
        list(accumulate((night[bet] for night in products), _grown, initial=0.0))[-1]
        for bet in range(BETS)
    ]
    assert found.evidence <= fsum(unlimited) / BETS * (1 + 1e-9)


def _grown(stake: float, gain: float) -> float:
    return (1 + stake) * exp(gain)
