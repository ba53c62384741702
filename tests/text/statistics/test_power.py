"""The power of a comparison: exact values, the smallest drop, and what a run says of it."""

from math import comb, sqrt

import pytest

from rubric_ci.gate.comparison.reference import Baseline
from rubric_ci.parts.lab.history.detectable_drop import TWO_NIGHTS, sees, show_power
from rubric_ci.text.statistics import power
from rubric_ci.text.statistics.power import (
    DEFAULT,
    Design,
    Variances,
    cases_needed,
    probability,
    smallest_drop,
)
from rubric_ci.values.comparison import ReferenceLog
from tests.sample_reports import a_report


def design(cases: int, trials: int, clusters: int = 0, reference: int = 0) -> Design:
    return Design(
        cases=cases,
        clusters=clusters or cases,
        trials=trials,
        reference_trials=reference or trials,
    )


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


NOISELESS = Variances(target=0.0, judge=0.0)
VERDICTS = Variances(target=0.2, judge=0.05)
MEASURED = Variances(cases=0.3, target=0.03, judge=0.01)


def at_least(count: int, of: int, chance: float) -> float:
    return sum(comb(of, k) * chance**k * (1 - chance) ** (of - k) for k in range(count, of + 1))


@pytest.mark.parametrize(
    ("drop", "given", "variances", "loss", "found"),
    [
        # Without noise: six clusters that lose the same are significant, and no fewer.
        (0.1, design(40, 1), NOISELESS, 0.5, at_least(6, 40, 0.2)),
        (0.1, design(40, 1), NOISELESS, 0.25, at_least(6, 40, 0.4)),
        (0.1, design(40, 1, clusters=10), NOISELESS, 0.5, at_least(6, 10, 0.2)),
        (0.9, design(8, 1), NOISELESS, 0.5, 1.0),  # every case loses it
        # Of the formula, which `test_the_drops_of_the_simulation` and others hold.
        (0.1, design(24, 3), DEFAULT, 0.5, 0.389426653),
        (0.1, design(24, 3), DEFAULT, 1.0, 0.181109295),
        (0.1, design(24, 3), DEFAULT, 0.05, 0.795198728),
        (0.1, design(24, 3, clusters=8), DEFAULT, 0.5, 0.083885658),
        (0.1, design(24, 2, reference=3), DEFAULT, 0.5, 0.365913252),
        (0.1, design(60, 1), MEASURED, 0.5, 0.214950643),
        (0.05, design(1200, 1), DEFAULT, 0.5, 0.999747860),
        (0.3, design(30, 1), VERDICTS, 0.5, 0.436106600),
        (0.5, design(8, 1), DEFAULT, 0.5, 0.986477438),
    ],
)
def test_the_probability(
    drop: float, given: Design, variances: Variances, loss: float, found: float
) -> None:
    assert probability(drop, given, variances, loss) == pytest.approx(found, rel=1e-7)


T = {8: 2.364624252, 30: 2.045229642, 1000: 1.962341461}  # quantiles at 0.975, by clusters


def lighter(clusters: int) -> float:
    t = T[clusters]
    return clusters / (clusters - 1 + t * t) * (t / 1.959963985) ** 2


@pytest.mark.parametrize(
    ("affected", "clusters", "noise", "critical"),
    [
        pytest.param(0, 8, 1.0, 1.959964 * sqrt(lighter(8)), id="noise alone"),
        pytest.param(0, 8, 0.01, 0.1959964 * sqrt(lighter(8)), id="little noise alone"),
        pytest.param(3, 8, 0.0, 1.5, id="three are never significant"),
        pytest.param(6, 8, 0.0, 2.0, id="six are"),
        pytest.param(24, 30, 0.0, 5.0, id="18 of 24 are (p = 0.011), 17 are not (p = 0.032)"),
        pytest.param(24, 30, 0.5, 4.981473, id="24, by the sum"),
        pytest.param(
            25, 30, 0.5, 1.959964 * sqrt(0.25 * 25 + 0.5 * lighter(30)), id="25, as a normal value"
        ),
        pytest.param(25, 1000, 5.0, 1.959964 * sqrt(6.25 + 5 * lighter(1000)), id="by Student's t"),
        pytest.param(25, 1001, 5.0, 1.959964 * sqrt(6.25 + 5), id="many clusters"),
    ],
)
def test_the_sum_from_which_flips_are_significant(
    affected: int, clusters: int, noise: float, critical: float
) -> None:
    found = power._critical(affected, clusters, 0.5, noise)
    assert found == pytest.approx(critical, rel=1e-6)


@pytest.mark.parametrize(
    ("given", "drop"),
    [
        (design(24, 3), 0.171844),
        (design(8, 3), 0.365799),
        (design(7, 3), None),
        (design(100, 1), 0.098846),
        (design(8, 1, clusters=8), 0.442963),
    ],
)
def test_the_smallest_drop(given: Design, drop: float | None) -> None:
    assert smallest_drop(given, DEFAULT) == (
        None if drop is None else pytest.approx(drop, abs=6e-6)
    )


@pytest.mark.parametrize(
    ("drop", "trials", "cases"),
    [(0.05, 3, 153), (0.005, 1, 25956), (0.5, 1, 8), (0.9, 15, 8), (0.001, 1, None)],
)
def test_the_cases_needed(drop: float, trials: int, cases: int | None) -> None:
    assert cases_needed(drop, trials, DEFAULT) == cases


def test_with_few_cases_sign_flips_are_counted() -> None:
    """Six of eight cases that lose the same are significant (2 / 2⁶), five are not."""
    exact = Variances(target=0.0, judge=0.0)
    six = sum(comb(8, n) * 0.5**8 for n in range(6, 9))
    assert probability(0.25, design(8, 1), exact) == pytest.approx(six)
