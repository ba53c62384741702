"""Suspects and their p-values within a budget of false alarms."""

import re
from dataclasses import replace
from typing import Any

import pytest

from rubric_ci.gate.comparison import alarm_budget, phrases
from rubric_ci.gate.comparison.alarm_budget import Pair
from rubric_ci.text.statistics import significance
from rubric_ci.values.comparison import RegressionConfig, SuspectCounts
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import CaseResult, Change, Graded, Trial
from rubric_ci.values.scoring import Verdict
from tests.compared import compared, kinds, whole
from tests.sample_reports import a_report, errored, graded

CONFIG = RegressionConfig()
PASS = Trial(verdict="pass", score=1.0)
FAIL = Trial(verdict="fail", score=0.0)


def case(name: str, passes: int, fails: int = 0, **changes: Any) -> Graded:
    """Return a case with this many passing and failing trials."""
    each = (*[FAIL] * fails, *[PASS] * passes)
    word: Verdict = "fail" if fails >= passes else "pass"
    return replace(graded(name, word), trials=each if len(each) > 1 else (), **changes)


def reference(*names: str) -> RunReport:
    return a_report(*(case(name, 15) for name in names))


def against_20(*head: Graded) -> RunReport:
    """Compare with a reference of 20 cases; those that are not in `head` are unchanged."""
    names = [f"c{n}" for n in range(20)]
    changed = {each.id: each for each in head}
    return compared(
        a_report(*(changed.get(name, case(name, 3)) for name in names)), reference(*names)
    )


@pytest.mark.parametrize(
    ("head", "kind", "p_value"),
    [
        pytest.param(case("c0", 3), "unchanged", None, id="unchanged"),
        pytest.param(case("c0", 2, 1), "unchanged", None, id="one-of-three-fails"),
        pytest.param(case("c0", 1, 2), "flaky", 20 * 3 / 153, id="two-of-three-fail"),
        pytest.param(case("c0", 0, 3), "broken", 20 / 816, id="all-of-three-fail"),
        pytest.param(case("c0", 4, 6), "broken", 0.0237154, id="a-confirmed-suspect"),
        pytest.param(case("c0", 5, 5), "flaky", 0.0948617, id="a-cleared-suspect"),
        pytest.param(case("c0", 6, 4), "unchanged", None, id="below-in-too-few-pairs"),
        pytest.param(case("c0", 0, 10), "broken", 20 / 3_268_760, id="every-trial-fails"),
    ],
)
def test_a_case(head: Graded, kind: Change, p_value: float | None) -> None:
    case = against_20(head).cases[0]
    assert case.change == kind
    shown = re.search(r"p = ([0-9.e-]+)", case.change_reason)
    found = float(shown.group(1)) if shown else None
    assert found == (None if p_value is None else pytest.approx(p_value, rel=0.05))


def flipped(name: str, bad: int, good: int) -> Graded:
    """Return a case whose first trial fails, and its further trials."""
    trials = (FAIL, *[FAIL] * bad, *[PASS] * good)
    return replace(graded(name, "pass"), trials=trials, further_trials=bad + good)


def test_the_suspects_are_counted() -> None:
    found = against_20(
        case("c0", 0, 10, further_trials=7),
        case("c1", 5, 5, further_trials=7),
        case("c2", 0, 2),
        case("c3", 9, 1, further_trials=7),
    )
    assert whole(found).suspects == SuspectCounts(
        false_alarms=0.05,
        suspects=4,
        confirmed=1,
        undecided=1,
        further_trials=7,
        p_values=(20 / 3_268_760, 20 / 3_268_760),
    )
    lines = list(phrases.lines(found))
    assert lines[:2] == [
        "1 broken, 17 unchanged, 2 flaky",
        (
            "4 suspects, 2 cleared by up to 7 more trials each, 1 confirmed (p = 6.1e-06), "
            "1 undecided (too few trials: `run --baseline` adds them)"
        ),
    ]
    first, second, third, *_ = found.cases
    assert phrases.in_words(first) == "▼ broken: pass 1.00 → fail 0.00"
    assert [case.change_reason for case in (first, second, third)] == [
        "confirmed: 10 fail of 10 here, 15 pass of 15 in the baseline (p = 6.1e-06)",
        "not confirmed: 5 pass, 5 fail of 10 here, 15 pass of 15 in the baseline (p = 0.09)",
        "undecided, too few trials: 2 fail of 2 here, 15 pass of 15 in the baseline (p = 0.13)",
    ]
    assert whole(found).regressed


def test_a_fall_within_the_tolerance_is_no_suspect() -> None:
    then = replace(graded("a", "pass"), trials=(Trial(verdict="pass", score=0.9),) * 15)
    now = replace(graded("a", "pass"), trials=(Trial(verdict="pass", score=0.88),) * 10)
    found = compared(a_report(now), a_report(then))
    assert (kinds(found), found.cases[0].change_reason) == (["unchanged a"], "")
    strict = a_report(now, regression=RegressionConfig(tolerance=0.01))
    assert kinds(compared(strict, a_report(then))) == ["broken a"]


def test_many_small_falls_of_the_mean_are_found() -> None:
    """No case is a suspect, but the mean of the trials fell in all of them."""
    comparison = whole(against_20(*(case(f"c{n}", 2, 1) for n in range(20))))
    assert (comparison.fell, comparison.suspects) == (
        True,
        SuspectCounts(false_alarms=0.05, suspects=0, confirmed=0, undecided=0, further_trials=0),
    )
    assert comparison.mean_difference == pytest.approx(-1 / 3, abs=1e-5)
    assert comparison.regressed


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
    comparison = whole(against_20(low, *others))
    assert comparison.mean_difference == mean
    assert comparison.interval == pytest.approx((-0.457922, -0.042078), abs=1e-5)
    assert comparison.p_value == 0.0625


def test_clusters_are_flipped_together() -> None:
    names = [f"c{n}" for n in range(20)]
    head = [case(name, 2, 1, cluster=f"conversation {n % 5}") for n, name in enumerate(names)]
    found = compared(a_report(*head), reference(*names))
    comparison = whole(found)
    assert (comparison.clusters, comparison.p_value) == (5, 0.0625)
    assert not comparison.regressed
    *_, mean = phrases.lines(found)
    assert mean.startswith("Mean score -0.333 (20 cases in both reports in 5 clusters, ")
    assert mean.endswith(": too few cases for a test")


@pytest.mark.parametrize(
    ("trials", "config", "applies"),
    [
        (15, CONFIG, True),
        (20, CONFIG, True),
        (14, CONFIG, False),
        (1, CONFIG, False),
        (5, replace(CONFIG, reference_trials=5), True),
        (2, replace(CONFIG, reference_trials=2), True),
        (1, replace(CONFIG, reference_trials=1), False),
    ],
)
def test_a_reference_has_enough_trials(
    trials: int, config: RegressionConfig, *, applies: bool
) -> None:
    cases: list[CaseResult] = [case("a", trials), case("b", trials), case("c", 1), errored("d")]
    assert alarm_budget.pools_enough(cases, config) is applies


def test_a_baseline_with_too_few_trials_is_named() -> None:
    comparison = whole(compared(a_report(case("a", 3)), a_report(case("a", 3))))
    assert comparison.suspects is None
    assert comparison.notes[0] == (
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
        pytest.param(case("a", 0, 10, further_trials=7), 10, id="a-suspect-of-ten-trials"),
        pytest.param(case("a", 8, 2, further_trials=7), 0, id="cleared-by-ten-trials"),
        pytest.param(case("a", 0, 20, further_trials=17), 0, id="enough-after-both-stages"),
    ],
)
def test_further_trials(head: Graded, more: int) -> None:
    then = replace(case("a", 14, 1))
    assert alarm_budget.further_trials(head, then, CONFIG) == more
    assert alarm_budget.further_trials(head, None, CONFIG) == 0
    assert alarm_budget.further_trials(errored("a"), then, CONFIG) == 0


BEFORE = frozenset({("f", "a")})


@pytest.mark.parametrize(
    ("fails", "before", "state"),
    [
        pytest.param(10, None, "confirmed", id="one run decides"),
        pytest.param(10, frozenset(), "worse", id="the first night"),
        pytest.param(10, BEFORE, "confirmed", id="the second night in a row"),
        pytest.param(10, frozenset({("f", "b")}), "worse", id="another case before"),
        # p = 0.00048: too much for 200 cases, enough for the one of the night before
        pytest.param(8, BEFORE, "confirmed", id="again, with a weaker p-value"),
        pytest.param(8, None, "", id="a weaker p-value alone"),
        pytest.param(7, BEFORE, "", id="again, but too weak"),
    ],
)
def test_the_second_night_tests_the_cases_of_the_first(
    fails: int, before: frozenset[tuple[str, str]] | None, state: str
) -> None:
    quiet = Pair(head=((2, 1.0),) * 3, reference=((2, 1.0),) * 15)
    low = Pair(head=((0, 0.0),) * fails + ((2, 1.0),) * (12 - fails), reference=quiet.reference)
    pairs = {("f", str(n)): quiet for n in range(199)} | {("f", "a"): low}
    tested = alarm_budget.confirm_cases(pairs, CONFIG, before)
    key = ("f", "a")
    found = "confirmed" if tested.confirmed(key) else "worse" if tested.worse(key) else ""
    assert found == state
    p_value = significance.p_value_below(low.head, low.reference)
    alone = fails == 8 and before == BEFORE  # among all cases it is not significant
    assert tested.p_values[key] == pytest.approx(p_value if alone else min(1, 200 * p_value))


def test_a_fall_within_the_tolerance_is_not_worse_again() -> None:
    """Every trial is lower, by no more than the tolerance."""
    pair = Pair(head=((2, 0.85),) * 20, reference=((2, 0.9),) * 15)
    assert not alarm_budget.confirm_cases({("f", "a"): pair}, CONFIG, BEFORE).p_values
    lower = replace(pair, head=((2, 0.84),) * 20)
    assert alarm_budget.confirm_cases({("f", "a"): lower}, CONFIG, BEFORE).confirmed(("f", "a"))


def test_without_a_graded_case_there_are_no_trials() -> None:
    assert alarm_budget.trials_per_case([errored("a")]) == 0


def test_a_case_that_was_worse_is_asked_again_whatever_its_first_trials() -> None:
    then, good = case("a", 15), case("a", 3)
    more = alarm_budget.further_trials(good, then, CONFIG, worse_before=True)
    assert more == 17
    asked = case("a", 20, further_trials=17)
    assert alarm_budget.further_trials(asked, then, CONFIG, worse_before=True) == 0
    for confirm, more in ((1, 0), (2, 3)):
        few = replace(CONFIG, confirm=confirm)
        assert alarm_budget.further_trials(case("a", 1), then, few, worse_before=True) == more


def repeating(name: str, *, passes: int = 0, fails: int = 0, **changes: Any) -> Graded:
    """Return a case each verdict of which has one answer."""
    found = case(name, passes, fails, **changes)
    trials = [replace(t, answer=f"An answer that is longer than a label, {t.verdict}") for t in
              found.trials]  # fmt: skip
    return replace(found, trials=tuple(trials))


def test_a_case_that_repeats_an_answer_is_never_broken_by_itself() -> None:
    then = a_report(*(repeating(f"c{n}", passes=15) for n in range(20)))
    now = a_report(repeating("c0", fails=20, further_trials=17),
                   *(repeating(f"c{n}", passes=3) for n in range(1, 20)))  # fmt: skip
    found = compared(now, then)
    assert found.cases[0].change == "flaky"
    assert found.cases[0].change_reason == (
        "flipped: 20 fail of 20 here, 15 pass of 15 in the baseline, by equal answers, which count "
        "once: it may be chance"
    )
    assert whole(found).suspects == SuspectCounts(
        false_alarms=0.05, suspects=1, confirmed=0, undecided=0, flipped=1, further_trials=17
    )
    assert "1 suspect, 1 flipped by equal answers, which count once" in list(phrases.figures(found))
    assert not whole(found).regressed
    lost = a_report(*(repeating(f"c{n}", fails=3) if n < 8 else repeating(f"c{n}", passes=3)
                      for n in range(20)))  # fmt: skip
    assert whole(compared(lost, then)).regressed  # the mean shows what many of them lose


@pytest.mark.parametrize(
    ("head", "more"),
    [
        pytest.param(repeating("a", fails=3), 0, id="three equal answers"),
        pytest.param(case("a", 0, 3), 7, id="texts are not kept"),
        pytest.param(case("a", 0, 1), 9, id="one answer"),
        pytest.param(repeating("a", fails=3, recorded=True), 7, id="recorded, so not drawn"),
    ],
)
def test_who_repeats_an_answer_is_asked_no_more(head: Graded, more: int) -> None:
    for was in (case("a", 15), repeating("a", passes=15)):
        assert alarm_budget.further_trials(head, was, CONFIG) == (
            more if was.trials[0].answer is None or head.recorded else 0
        )
