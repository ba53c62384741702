"""Suspects and their p-values within a budget of false alarms."""

from dataclasses import replace
from typing import Any

import pytest

from rubric_ci.comparison import alarm_budget, comparison_text
from rubric_ci.comparison.alarm_budget import Pair
from rubric_ci.comparison.compare import compare
from rubric_ci.model.regression_config import RegressionConfig
from rubric_ci.model.report import ChangeKind, Comparison, RunReport, SuspectCounts
from rubric_ci.model.results import CaseResult, Graded, Trial, VerdictWord
from tests.sample_reports import a_report, errored, graded

CONFIG = RegressionConfig()
PASS = Trial(verdict="pass", score=1.0)
FAIL = Trial(verdict="fail", score=0.0)


def case(name: str, passes: int, fails: int = 0, **changes: Any) -> Graded:
    """Return a case with this many passing and failing trials."""
    each = (*[FAIL] * fails, *[PASS] * passes)
    word: VerdictWord = "fail" if fails >= passes else "pass"
    return replace(graded(name, word), trials=each if len(each) > 1 else (), **changes)


def reference(*names: str) -> RunReport:
    return a_report(*(case(name, 15) for name in names))


def against_20(*head: Graded) -> Comparison:
    """Compare with a reference of 20 cases; those that are not in `head` are unchanged."""
    names = [f"c{n}" for n in range(20)]
    changed = {each.id: each for each in head}
    return compare(
        a_report(*(changed.get(name, case(name, 3)) for name in names)), reference(*names)
    )


@pytest.mark.parametrize(
    ("head", "kind", "p_value"),
    [
        pytest.param(case("c0", 3), "same", None, id="unchanged"),
        pytest.param(case("c0", 2, 1), "same", None, id="one-of-three-fails"),
        pytest.param(case("c0", 1, 2), "flaky", 20 * 3 / 153, id="two-of-three-fail"),
        pytest.param(case("c0", 0, 3), "regressed", 20 / 816, id="all-of-three-fail"),
        pytest.param(case("c0", 4, 6), "regressed", 0.0237154, id="a-confirmed-suspect"),
        pytest.param(case("c0", 5, 5), "flaky", 0.0948617, id="a-cleared-suspect"),
        pytest.param(case("c0", 6, 4), "same", None, id="below-in-too-few-pairs"),
        pytest.param(case("c0", 0, 10), "regressed", 20 / 3_268_760, id="every-trial-fails"),
    ],
)
def test_a_case(head: Graded, kind: ChangeKind, p_value: float | None) -> None:
    (change,) = [change for change in against_20(head).changes if change.id == "c0"]
    assert change.p_value == (None if p_value is None else pytest.approx(p_value, rel=1e-4))
    assert change.kind == kind


def flipped(name: str, bad: int, good: int) -> Graded:
    """Return a case whose first trial fails, and its further trials."""
    trials = (FAIL, *[FAIL] * bad, *[PASS] * good)
    return replace(graded(name, "pass"), trials=trials, further_trials=bad + good)


def test_the_suspects_are_counted() -> None:
    compared = against_20(
        case("c0", 0, 10, further_trials=7),
        case("c1", 5, 5, further_trials=7),
        case("c2", 0, 2),
        case("c3", 9, 1, further_trials=7),
    )
    assert compared.suspects == SuspectCounts(
        false_alarms=0.05, suspects=4, confirmed=1, undecided=1, further_trials=7
    )
    lines = list(comparison_text.lines(compared))
    assert lines[:2] == [
        "1 regressed, 2 flaky, 17 same",
        (
            "4 suspects, 2 cleared by 7 more trials each, 1 confirmed (p = 6.1e-06), "
            "1 undecided (too few trials: `run --baseline` adds them)"
        ),
    ]
    cells = comparison_text.by_case(compared)
    assert cells["e.yaml", "c0"] == "▼ regressed: pass 1.00 → fail 0.00 (p = 6.1e-06)"
    assert compared.regressed


def test_a_fall_within_the_tolerance_is_no_suspect() -> None:
    then = replace(graded("a", "pass"), trials=(Trial(verdict="pass", score=0.9),) * 15)
    now = replace(graded("a", "pass"), trials=(Trial(verdict="pass", score=0.88),) * 10)
    compared = compare(a_report(now), a_report(then))
    assert [(c.kind, c.p_value) for c in compared.changes] == [("same", None)]
    strict = a_report(now, regression=RegressionConfig(tolerance=0.01))
    assert compare(strict, a_report(then)).count("regressed") == 1


def test_many_small_falls_of_the_mean_are_found() -> None:
    """No case is a suspect, but the mean of the trials fell in all of them."""
    compared = against_20(*(case(f"c{n}", 2, 1) for n in range(20)))
    assert (compared.count("regressed"), compared.suspects) == (
        0,
        SuspectCounts(false_alarms=0.05, suspects=0, confirmed=0, undecided=0, further_trials=0),
    )
    assert compared.mean_difference == pytest.approx(-1 / 3, abs=1e-5)
    assert compared.regressed


@pytest.mark.parametrize(
    ("low", "mean"),
    [
        pytest.param(case("c0", 0, 1), -0.25, id="not asked again"),
        pytest.param(case("c0", 0, 10, further_trials=9), -0.25, id="confirmed"),
        pytest.param(flipped("c0", 0, 9), -0.25, id="asked again: only good answers"),
        pytest.param(flipped("c0", 4, 5), -0.25, id="asked again: some"),
    ],
)
def test_further_trials_leave_the_mean_alone(low: Graded, mean: float) -> None:
    """Five of 20 cases fail their only first trial, and one of them was asked again."""
    others = [case(f"c{n}", 0, 1) for n in range(1, 5)]
    compared = against_20(low, *others)
    assert compared.mean_difference == mean
    assert compared.interval == pytest.approx((-0.457922, -0.042078), abs=1e-5)
    assert compared.p_value == 0.0625


def test_clusters_are_flipped_together() -> None:
    names = [f"c{n}" for n in range(20)]
    head = [case(name, 2, 1, cluster=f"conversation {n % 5}") for n, name in enumerate(names)]
    compared = compare(a_report(*head), reference(*names))
    assert (compared.clusters, compared.p_value, compared.regressed) == (5, 0.0625, False)
    *_, mean, note = comparison_text.lines(compared)
    assert mean.startswith("Mean score -0.333 (20 cases in both reports in 5 clusters, ")
    assert note == (
        "With fewer than 6 independent cases or clusters (5 here), "
        "no change of the mean score is significant at 0.05."
    )


@pytest.mark.parametrize(
    ("trials", "config", "applies"),
    [
        (15, CONFIG, True),
        (20, CONFIG, True),
        (14, CONFIG, False),
        (1, CONFIG, False),
        (5, replace(CONFIG, reference_trials=5), True),
    ],
)
def test_a_reference_has_enough_trials(
    trials: int, config: RegressionConfig, *, applies: bool
) -> None:
    cases: list[CaseResult] = [case("a", trials), case("b", trials), case("c", 1), errored("d")]
    assert alarm_budget.pools_enough(cases, config) is applies


def test_a_baseline_with_too_few_trials_is_named() -> None:
    compared = compare(a_report(case("a", 3)), a_report(case("a", 3)))
    assert compared.suspects is None
    assert compared.notes[0] == (
        "The baseline has 3 trials per case; false alarms are kept within a budget from 15 on "
        "(`regression.reference_trials`): create it with `rubric-ci run --trials 15`."
    )


def test_more_trials_of_the_reference_than_configured_are_not_used() -> None:
    long = replace(case("a", 20), trials=(*[PASS] * 15, *[FAIL] * 5))
    assert alarm_budget.pair(case("a", 1), long, CONFIG) == Pair(
        head=((2, 1.0),), reference=((2, 1.0),) * 15
    )


@pytest.mark.parametrize(
    ("head", "more"),
    [
        pytest.param(case("a", 1), 0, id="as-before"),
        pytest.param(case("a", 0, 1), 9, id="a-suspect-of-one-trial"),
        pytest.param(case("a", 2, 1), 0, id="below-in-too-few-pairs"),
        pytest.param(case("a", 0, 3), 7, id="a-suspect-of-three-trials"),
        pytest.param(case("a", 0, 12), 0, id="enough-already"),
    ],
)
def test_further_trials(head: Graded, more: int) -> None:
    then = replace(case("a", 14, 1))
    assert alarm_budget.further_trials(head, then, CONFIG) == more
    assert alarm_budget.further_trials(head, None, CONFIG) == 0
    assert alarm_budget.further_trials(errored("a"), then, CONFIG) == 0
