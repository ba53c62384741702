"""The smallest drop that is seen: against scipy's noncentral t, and against simulated runs."""

import random
from math import comb, sqrt
from statistics import NormalDist

import pytest
from scipy import stats

from rubric_ci.comparison.reference import Baseline
from rubric_ci.history.forecast import TWO_NIGHTS, needed, sees, show_power
from rubric_ci.model.reference_log import ReferenceLog
from rubric_ci.statistics import significance
from rubric_ci.statistics.power import (
    DEFAULT,
    Design,
    Variances,
    cases_needed,
    probability,
    smallest_drop,
)
from tests.sample_reports import a_report


def design(cases: int, trials: int, clusters: int = 0, reference: int = 0) -> Design:
    return Design(
        cases=cases,
        clusters=clusters or cases,
        trials=trials,
        reference_trials=reference or trials,
    )


@pytest.mark.parametrize("cases", [6, 10, 24, 100, 500])
@pytest.mark.parametrize("trials", [1, 3, 15])
def test_the_power_is_that_of_the_noncentral_t(cases: int, trials: int) -> None:
    measured = Variances(cases=0.3, target=0.03, judge=0.01)  # above what a drop itself adds
    drop = smallest_drop(design(cases, trials), measured)
    if drop is None:
        assert cases <= 10  # the drop is more than an affected case loses
        return
    error = sqrt((measured.cases + measured.trial * 2 / trials) / cases)
    critical = stats.t.ppf(0.975, cases - 1)
    power = stats.nct.sf(critical, cases - 1, drop / error)
    assert power == pytest.approx(0.8, abs=0.03)


def test_the_drop_is_seen_in_four_of_five_simulated_nights() -> None:
    chance, seen, nights = random.Random(1), 0, 600
    drop = smallest_drop(design(60, 3), DEFAULT)
    assert drop is not None
    for _ in range(nights):
        differences = [one_difference(chance, drop) for _ in range(60)]
        seen += sum(differences) < 0 and significance.p_value(differences) < 0.05
    assert 0.75 < seen / nights < 0.86


def one_difference(chance: random.Random, drop: float) -> float:
    """Return the difference of the means of three trials; an affected case loses 0.5."""
    lost = 0.5 if chance.random() < drop / 0.5 else 0.0
    noise = sqrt(DEFAULT.trial * 2 / 3)
    return chance.gauss(-lost, noise)


@pytest.mark.parametrize("trials", [1, 3, 10])
@pytest.mark.parametrize("drop", [0.02, 0.05, 0.2])
def test_the_cases_needed_are_the_fewest(drop: float, trials: int) -> None:
    cases = cases_needed(drop, trials, DEFAULT)
    assert cases is not None
    smallest, above = (smallest_drop(design(n, trials), DEFAULT) for n in (cases, cases - 1))
    assert smallest is not None
    assert smallest <= drop + 1e-5
    assert above is None or above > drop - 1e-5


LINES = {
    "defaults": (
        (design(24, 3), DEFAULT),
        (
            "24 cases x 3 trials: a drop of 18 points is detected with 80 % probability "
            "(variances by default: cases 0, target 0.03, judge 0.01)"
        ),
    ),
    "a reference": (
        (design(24, 1, reference=15), DEFAULT),
        (
            "24 cases x 1 trial: a drop of 19 points is detected with 80 % probability "
            "(variances by default: cases 0, target 0.03, judge 0.01)"
        ),
    ),
    "measured": (
        (design(24, 3), Variances(cases=0.01, target=0.001, judge=0.0, runs=12)),
        (
            "24 cases x 3 trials: a drop of 13 points is detected with 80 % probability "
            "(variances of 12 runs: cases 0.01, target 0.001, judge 0)"
        ),
    ),
    "clusters": (
        (design(24, 3, clusters=8), DEFAULT),
        (
            "24 cases in 8 clusters x 3 trials: a drop of 35 points is detected with 80 % "
            "probability (variances by default: cases 0, target 0.03, judge 0.01)"
        ),
    ),
    "too few": (
        (design(7, 3), DEFAULT),
        ("7 cases x 3 trials: too few to state a smallest drop; it takes 8 independent cases"),
    ),
    "too noisy": (
        (design(8, 1), Variances(target=0.1875, judge=0.0)),
        (
            "8 cases x 1 trial: too few to detect a drop of 50 points with 80 % probability "
            "(variances by default: cases 0, target 0.19, judge 0)"
        ),
    ),
}


@pytest.mark.parametrize(("given", "line"), LINES.values(), ids=LINES)
def test_what_a_run_sees(given: tuple[Design, Variances], line: str) -> None:
    assert sees(*given) == line


def test_what_it_takes() -> None:
    first, second = needed(0.05, design(24, 3), DEFAULT)
    assert first.startswith("to detect a drop of 5 points with 80 % probability: ")
    counts = [int(part.split()[0].replace(",", "")) for part in first.split(": ")[1].split(" or ")]
    assert counts == sorted(counts, reverse=True)
    assert second == sees(design(24, 3), DEFAULT)


def test_the_normal_quantile_is_the_one_of_scipy() -> None:
    assert NormalDist().inv_cdf(0.8) == pytest.approx(stats.norm.ppf(0.8))


def test_no_drop_is_stated_where_two_nights_decide(capsys: pytest.CaptureFixture[str]) -> None:
    pinned = Baseline(report=a_report(), log=ReferenceLog(decisions=()))
    show_power([""] * 24, pinned, {}, trials=3)
    assert capsys.readouterr().err == f"{TWO_NIGHTS}\n"


@pytest.mark.parametrize(
    ("given", "variance", "drop"),
    [
        pytest.param(design(24, 1), 0.01, 0.161, id="scores"),
        pytest.param(design(24, 1), 0.1875, 0.422, id="verdicts"),
        pytest.param(design(24, 1, reference=3), 0.1875, 0.345, id="a baseline of three trials"),
        pytest.param(design(24, 3, clusters=8), 0.01, 0.339, id="clusters"),
        pytest.param(design(200, 3), 0.1875, 0.080, id="many cases"),
        pytest.param(design(24, 3), 0.0, 0.155, id="no noise"),
    ],
)
def test_the_drops_of_the_simulation(given: Design, variance: float, drop: float) -> None:
    """Drops of benchmarks/regression/power.py, which are found in about 0.80 of its runs."""
    found = smallest_drop(given, Variances(target=variance, judge=0.0))
    assert found == pytest.approx(drop, abs=6e-4)


@pytest.mark.parametrize(
    ("lost", "found"), [(0.17, 0.99), (0.25, 0.98), (0.5, 0.80), (1.0, 0.45)], ids=str
)
def test_what_an_affected_case_loses_decides(lost: float, found: float) -> None:
    assert probability(0.172, design(24, 3), DEFAULT, lost) == pytest.approx(found, abs=0.01)


def test_with_few_cases_sign_flips_are_counted() -> None:
    """Six of eight cases that lose the same are significant (2 / 2⁶), five are not."""
    exact = Variances(target=0.0, judge=0.0)
    six = sum(comb(8, n) * 0.5**8 for n in range(6, 9))
    assert probability(0.25, design(8, 1), exact) == pytest.approx(six)
