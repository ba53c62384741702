"""A report against its baseline."""

from dataclasses import replace
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.gate.comparison import phrases
from rubric_ci.gate.comparison.compared import compare
from rubric_ci.gate.comparison.reference import Baseline, night_of
from rubric_ci.values.comparison import (
    Decision,
    Night,
    ReferenceLog,
    RegressionConfig,
    SuspectCounts,
)
from rubric_ci.values.gate import GateInfo
from rubric_ci.values.report import Against, JudgeInfo, RunReport, run_verdict, totals
from rubric_ci.values.results import BaseResult, CaseResult, Change, Errored, Graded, Skipped, Trial
from rubric_ci.values.scope import NARROWINGS, Narrowing, Scope
from rubric_ci.values.scoring import Verdict, verdict
from tests import nights
from tests.compared import against as whole_of
from tests.compared import compared, kinds, whole
from tests.sample_reports import a_criterion, a_rubric

JUDGE = JudgeInfo(model="openai/m", prompt_version="1")


def graded(score: float, *, fails: bool = False, case: str = "a", file: str = "a.yaml") -> Graded:
    word: Verdict = "fail" if fails else verdict(score)
    return Graded(file=file, line=1, id=case, verdict=word, score=score, reason="")


def trials(*scores: float, case: str = "a") -> Graded:
    each = tuple(Trial(verdict=verdict(score), score=score) for score in scores)
    middle = sorted(scores)[len(scores) // 2]
    return replace(graded(middle, case=case), trials=each)


ERRORED = Errored(file="a.yaml", line=1, id="a", reason="no answer")
SKIPPED = Skipped(file="a.yaml", line=1, id="a", reason="no rubrics")


def report(*cases: CaseResult) -> RunReport:
    return RunReport(
        tool="rubric-ci",
        started_at="2026-11-21T00:00:00Z",
        duration_seconds=1,
        verdict=run_verdict(cases),
        gate=GateInfo(fail_on="fail", passing=0.8, borderline=0.6, holds=True),
        judge=JUDGE,
        totals=totals(cases),
        cases=cases,
    )


def against(before: CaseResult | None, after: CaseResult | None) -> RunReport:
    then, now = (report(*([case] if case else [])) for case in (before, after))
    return compared(now, then)


def kind_of(before: CaseResult | None, after: CaseResult | None) -> Change:
    found = against(before, after)
    return found.cases[0].change or "unchanged" if found.cases else "removed"


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        (graded(0.9), graded(0.9), "unchanged"),
        (graded(0.9), graded(0.85), "unchanged"),
        (graded(0.95), graded(0.9), "unchanged"),  # 0.05 in decimals, a little more in binary
        (graded(0.9), graded(0.84), "broken"),
        (graded(0.84), graded(0.9), "unchanged"),  # better, and passed before
        (graded(0.8), graded(0.79), "broken"),
        (graded(0.59), graded(0.6), "fixed"),
        (graded(0.3), graded(0.3), "failing-before"),
        (graded(0.3), graded(0.5), "failing-before"),
        (graded(0.9), graded(0.9, fails=True), "broken"),
        (graded(0.7), graded(0.95, fails=True), "broken"),
        (graded(0.95, fails=True), graded(0.7), "fixed"),
        (None, graded(0.1), "new"),
        (ERRORED, graded(0.1), "not-comparable"),
        (SKIPPED, graded(0.1), "not-comparable"),
        (graded(0.9), ERRORED, "not-comparable"),
        (ERRORED, ERRORED, "not-comparable"),
        (None, ERRORED, "new"),
        (graded(0.9), SKIPPED, "not-comparable"),
        (graded(0.9), None, "removed"),
    ],
)
def test_kind(before: CaseResult | None, after: CaseResult | None, kind: Change) -> None:
    assert kind_of(before, after) == kind


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        (ERRORED, graded(0.1), "no verdict in the baseline: no answer"),
        (SKIPPED, graded(0.1), "not graded in the baseline: no rubrics"),
        (graded(0.9), ERRORED, "no verdict: no answer"),
        (graded(0.9), SKIPPED, "not graded: no rubrics"),
    ],
)
def test_why_a_case_is_not_comparable(before: CaseResult, after: CaseResult, reason: str) -> None:
    (case,) = against(before, after).cases
    assert case.change_reason == reason


def test_the_report_keeps_what_a_case_was() -> None:
    then = replace(graded(0.9), answer="It was good.")
    found = [against(then, replace(graded(score), answer="Now")).cases[0] for score in (0.1, 0.9)]
    assert [case.before for case in found if isinstance(case, Graded)] == [
        BaseResult(
            outcome="graded", verdict="pass", score=0.9, answer="It was good.", source="report"
        ),
        BaseResult(outcome="graded", verdict="pass", score=0.9, source="report"),
    ]


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        (trials(0.9, 0.9, 0.9), trials(0.5, 0.5, 0.5), "broken"),
        (trials(0.9, 0.9, 0.5), trials(0.5, 0.5, 0.5), "flaky"),
        (trials(0.9, 0.9, 0.9), trials(0.9, 0.5, 0.5), "flaky"),
        (trials(0.9, 0.9, 0.5), trials(0.9, 0.5, 0.9), "unchanged"),
        (trials(0.9, 0.9, 0.7), trials(0.5, 0.4, 0.3), "broken"),
        (trials(0.95, 0.9, 0.9), trials(0.85, 0.8, 0.8), "broken"),
        (trials(0.95, 0.9, 0.84), trials(0.85, 0.8, 0.8), "flaky"),
        (trials(0.5, 0.5, 0.5), trials(0.9, 0.9, 0.9), "fixed"),
        (graded(0.9), trials(0.5, 0.5, 0.9), "flaky"),
        (graded(0.9), trials(0.5, 0.5, 0.6), "broken"),
    ],
)
def test_trials(before: Graded, after: Graded, kind: Change) -> None:
    assert kind_of(before, after) == kind


def mixed(*each: tuple[Verdict, float]) -> Graded:
    """Return a case of these trials and their median, the lowest verdict first."""
    order = ("fail", "borderline", "pass")
    ranked = sorted(each, key=lambda trial: (order.index(trial[0]), trial[1]))
    word, score = ranked[len(ranked) // 2]
    every = tuple(Trial(verdict=v, score=s) for v, s in each)
    return replace(graded(score), verdict=word, trials=every)


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        pytest.param(
            mixed(("pass", 0.82), ("pass", 0.82), ("fail", 0.8)),
            mixed(("fail", 0.95), ("fail", 0.95), ("pass", 1.0)),
            "flaky",
            id="every-score-rose-and-the-verdicts-overlap",
        ),
        pytest.param(
            mixed(("pass", 0.82), ("pass", 0.82), ("pass", 0.8)),
            mixed(("fail", 0.95), ("fail", 0.95), ("fail", 1.0)),
            "broken",
            id="every-score-rose-and-every-verdict-fell",
        ),
        pytest.param(
            mixed(("pass", 0.8), ("pass", 0.8), ("borderline", 0.79)),
            mixed(("borderline", 0.78), ("borderline", 0.78), ("borderline", 0.78)),
            "flaky",
            id="the-scores-are-separated-by-less-than-the-tolerance",
        ),
        pytest.param(
            mixed(("pass", 0.9), ("pass", 0.9), ("borderline", 0.79)),
            mixed(("borderline", 0.7), ("borderline", 0.7), ("borderline", 0.7)),
            "broken",
            id="the-scores-are-separated-and-fell",
        ),
    ],
)
def test_the_separation_is_in_what_changed(before: Graded, after: Graded, kind: Change) -> None:
    assert kind_of(before, after) == kind


def test_many_rises_and_fewer_larger_falls_are_no_fall_of_the_mean() -> None:
    scores = [0.51] * 350 + [0.49] * 147 + [0.48] * 104
    then = report(*(graded(0.5, case=f"c{n}") for n in range(601)))
    comparison = whole_of(report(*(graded(s, case=f"c{n}") for n, s in enumerate(scores))), then)
    assert comparison.p_value == pytest.approx(0.8686, abs=1e-4)
    assert (comparison.significant, comparison.regressed) == (False, False)


def test_a_case_that_has_moved_is_the_same_case() -> None:
    found = against(graded(0.9), graded(0.5, file="b.yaml"))
    (case,) = found.cases
    assert (case.change, case.file, found.removed) == ("broken", "b.yaml", ())


def test_an_id_of_two_files_has_not_moved() -> None:
    then = report(graded(0.9, file="b.yaml"), graded(0.5, file="c.yaml"))
    found = compared(report(graded(0.9)), then)
    assert found.cases[0].change == "new"
    assert [case.file for case in found.removed] == ["b.yaml", "c.yaml"]


@pytest.mark.parametrize("how", [name for name in NARROWINGS if name != "replay"])
def test_a_case_that_did_not_run_is_not_removed(how: Narrowing) -> None:
    then = report(graded(0.9), graded(0.9, case="b"))
    now = replace(report(graded(0.9)), scope=Scope(suite=2).narrowed(how))
    found = compared(now, then)
    assert kinds(found) == ["unchanged a"]
    note = f"This report covers {now.covers}; the other cases are not compared."
    assert whole(found).notes[0] == note


def test_a_replayed_run_is_the_whole_suite() -> None:
    then = report(graded(0.9), graded(0.9, case="b"))
    now = replace(report(graded(0.9)), scope=Scope(suite=1).narrowed("replay"))
    assert kinds(compared(now, then)) == ["unchanged a", "removed b"]


def test_a_baseline_of_a_part_is_named() -> None:
    then = replace(report(graded(0.9)), scope=Scope(suite=2).narrowed("case"))
    note = "The baseline covers 1 of 2 cases: --case; the other cases are not compared."
    assert whole_of(report(graded(0.9)), then).notes[0] == note


def test_what_needs_attention_comes_first() -> None:
    then = report(*(graded(0.7, case=name) for name in "abcd"))
    now = report(
        graded(0.7, case="a"),
        graded(0.9, case="b"),
        graded(0.1, case="c"),
        graded(0.1, case="e"),
        replace(ERRORED, id="d"),
    )
    assert kinds(compared(now, then)) == [
        "broken c",
        "fixed b",
        "unchanged a",
        "new e",
        "not-comparable d",
    ]


def falling(number: int, by: float) -> RunReport:
    then = report(*(graded(0.9, case=f"c{n}") for n in range(number)))
    now = report(*(graded(round(0.9 - by, 6), case=f"c{n}") for n in range(number)))
    return compared(now, then)


def test_the_whole() -> None:
    found = falling(6, 0.02)
    comparison = whole(found)
    assert comparison.paired == 6
    assert comparison.mean_difference == -0.02
    assert comparison.interval is None  # equal differences say nothing of how they vary
    assert comparison.p_value == 0.03125
    assert kinds(found) == [f"unchanged c{n}" for n in range(6)]


def test_the_comparison_names_its_source_and_the_tolerance() -> None:
    then = report(graded(0.9))
    now = replace(
        report(graded(0.9)),
        against=Against(ref="main", commit="2" * 40),
        regression=RegressionConfig(tolerance=0.2),
    )
    found = compare(now, Baseline(report=then, ref="base/report.json"))
    comparison = whole(found)
    assert (comparison.source, comparison.ref) == ("report", "base/report.json")
    assert comparison.tolerance == 0.2
    assert found.against is None


@pytest.mark.parametrize(
    ("cases", "by", "significant", "regressed"),
    [
        (6, 0.02, True, True),  # no case alone, but all together
        (5, 0.02, False, False),
        (6, -0.02, True, False),
        (1, 0.5, False, True),
        (6, 0.0, False, False),
    ],
)
def test_is_it_worse(cases: int, by: float, *, significant: bool, regressed: bool) -> None:
    comparison = whole(falling(cases, by))
    assert (comparison.significant, comparison.regressed) == (significant, regressed)


def test_one_case_down_and_one_up_is_no_draw() -> None:
    then = report(graded(1.0, case="a"), graded(0.0, case="b"))
    now = report(graded(0.0, case="a"), graded(1.0, case="b"))
    found = compared(now, then)
    comparison = whole(found)
    assert comparison.mean_difference == 0
    assert kinds(found) == ["broken a", "fixed b"]
    assert comparison.regressed


def test_nothing_in_common() -> None:
    comparison = whole_of(report(graded(0.9)), report(graded(0.9, case="b")))
    found = (comparison.mean_difference, comparison.interval, comparison.p_value)
    assert found == (None, None, None)
    assert not comparison.regressed


def test_different_judges_and_thresholds_are_reported() -> None:
    now = replace(
        report(),
        judge=JudgeInfo(model="openai/n", prompt_version="2"),
        gate=GateInfo(fail_on="fail", passing=0.9, borderline=0.6, holds=True),
    )
    assert whole_of(now, report()).notes == (
        (
            "The judges differ (`openai/m`, now `openai/n`; prompt 1, now 2): "
            "score changes may come from the judge."
        ),
        "The thresholds differ (pass ≥ 0.8, now ≥ 0.9; borderline ≥ 0.6, now ≥ 0.6).",
    )


def test_only_differing_judge_settings_are_reported() -> None:
    then = report()
    assert then.judge is not None
    now = replace(then, judge=replace(then.judge, mode="isolated", votes="auto"))
    (note,) = whole_of(now, then).notes
    assert note.startswith("The judges differ (batched, now isolated; votes 1, now auto): ")


@pytest.mark.parametrize(
    ("trials", "note"),
    [
        pytest.param(1, "", id="a baseline"),
        pytest.param(
            15,
            "2 of 3 marks are from the cache, perhaps of an earlier judge; `rubric-ci run "
            "--baseline` asks the judge for each.",
            id="a reference",
        ),
    ],
)
def test_cached_marks_are_reported_where_a_reference_is_tested(trials: int, note: str) -> None:
    then = report(*(nights.case(name, trials) for name in "abcdef"))
    now = report(*(nights.case(name, 1) for name in "abcdef"))
    head = replace(now, totals=replace(now.totals, marks=3, cached_marks=2))
    assert "".join(whole_of(head, then).notes) == note


PINNED = ReferenceLog(
    decisions=(
        Decision(
            reason="first",
            commit="1" * 40,
            measured_at="2026-01-01T00:00:00+00:00",
            decided_at="2026-01-01T00:00:00+00:00",
            cases=10,
        ),
    )
)
REFERENCE = nights.night(
    1, *(nights.case(name, 15) for name in "abcdefghy"), nights.case("z", 0, 15)
)
WORSE = nights.night(
    2,
    *(nights.case(name, 0, 3) for name in "abcdefgh"),
    replace(ERRORED, file="e.yaml", id="y"),
    nights.case("z", 3),
)


LATER = "2026-01-05T00:00:00+00:00"
THEN = nights.night(1, *(nights.case(name, 15) for name in "abcdef"))


def a_night(*, lower: bool) -> Night:
    return Night(started_at="2026-01-04T00:00:00+00:00", gate="pass", worse=True, lower=lower)


def test_a_pinned_reference_says_which_cases_are_worse() -> None:
    found = compared(WORSE, REFERENCE, log=PINNED)
    comparison = whole(found)
    assert kinds(found) == [
        "fixed z",
        *(f"flaky {name}" for name in "abcdefgh"),
        "not-comparable y",
    ]
    facts = "3 fail of 3 here, 15 pass of 15 in the reference (p = 0.011)"
    assert found.cases[0].change_reason == f"suspected in this night: {facts}"
    assert phrases.headline(found) == (
        "suspected to be worse than the reference: 8 cases worse in this night; "
        "a second one confirms it"
    )
    assert (comparison.source, comparison.commit) == ("reference", "1" * 40)
    assert comparison.suspects == SuspectCounts(
        false_alarms=0.05,
        suspects=8,
        confirmed=8,
        undecided=0,
        further_trials=0,
        p_values=(0.011029411764705881, 0.011029411764705881),
    )
    assert (comparison.lower, comparison.fell) == (True, False)
    assert (comparison.regressed, comparison.suspected) == (False, True)
    assert comparison.worse_cases == tuple(("e.yaml", name) for name in "abcdefgh")
    assert comparison.judge_moved == ""
    log = PINNED.with_night(night_of(found))
    again = compared(replace(WORSE, started_at="2026-01-03T00:00:00+00:00"), REFERENCE, log=log)
    assert again.cases[0].change_reason == f"confirmed: {facts}"
    assert phrases.headline(again) == "worse than the reference: 8 cases broken"
    assert (whole(again).fell, whole(again).regressed, whole(again).suspected) == (
        True,
        True,
        False,
    )


ALONE = nights.night(2, *(nights.case(name, 2, 1) for name in "abcdef"))


@pytest.mark.parametrize(
    ("log", "regressed"),
    [
        pytest.param(PINNED, False, id="the first night"),
        pytest.param(PINNED.with_night(a_night(lower=True)), True, id="lower in both"),
        pytest.param(PINNED.with_night(a_night(lower=False)), False, id="another night is worse"),
        pytest.param(
            PINNED.with_night(replace(a_night(lower=True), gate="no-verdict")),
            False,
            id="no verdict in the night before",
        ),
        pytest.param(
            replace(PINNED, decisions=(replace(PINNED.decision, decided_at=LATER),)).with_night(
                a_night(lower=True)
            ),
            False,
            id="against an earlier reference",
        ),
    ],
)
def test_the_mean_is_lower_in_two_nights(log: ReferenceLog, *, regressed: bool) -> None:
    found = whole(compared(replace(ALONE, started_at=LATER), THEN, log=log))
    assert found.lower
    assert (found.regressed, found.suspected, found.fell) == (regressed, not regressed, regressed)


OTHER_JUDGE = replace(WORSE, judge=JudgeInfo(model="openai/n", prompt_version="1"))


@pytest.mark.parametrize(
    "log",
    [PINNED, PINNED.with_night(night_of(compared(WORSE, REFERENCE, log=PINNED)))],
    ids=["it would be suspected", "it would be worse"],
)
def test_nothing_is_concluded_from_marks_of_another_judge(log: ReferenceLog) -> None:
    then = replace(REFERENCE, judge=JUDGE)
    head = replace(OTHER_JUDGE, started_at="2026-01-03T00:00:00+00:00")
    found = compared(head, then, log=log)
    comparison = whole(found)
    assert kinds(found) == [f"not-comparable {name}" for name in "abcdefghyz"]
    assert found.cases[0].change_reason == comparison.judge_moved
    assert comparison.judge_moved == "The judge changed (`openai/m`, now `openai/n`)"
    assert comparison.p_value is not None
    assert (comparison.significant, comparison.regressed, comparison.suspected) == (False,) * 3
    assert comparison.worse_cases == ()
    assert (comparison.suspects, comparison.slide) == (None, None)
    same_judge = replace(head, judge=JUDGE)
    judged = whole_of(same_judge, then, log=log)
    assert judged.regressed or judged.suspected
    assert comparison.reference == judged.reference
    assert comparison.reference is not None


def test_another_judge_is_only_noted_if_nothing_is_pinned() -> None:
    comparison = whole_of(OTHER_JUDGE, replace(REFERENCE, judge=JUDGE))
    assert (comparison.judge_moved, comparison.regressed) == ("", True)


def test_a_slide_of_many_nights_is_worse_although_no_case_is() -> None:
    then = nights.night(1, *(nights.case(name, 15) for name in "abcde"))
    now = nights.night(3, *(nights.case(name, 4, 1) for name in "abcde"))
    before = tuple(
        Night(
            started_at=f"2026-01-02T0{n}:00:00+00:00", gate="pass", worse=False, log_products=bets
        )
        for n, bets in enumerate([(9.0,) * 7] * 4)
    )
    assert not whole_of(now, then, log=PINNED).regressed
    found = compared(now, then, log=replace(PINNED, nights=before))
    comparison = whole(found)
    assert {case.change for case in found.cases} == {"unchanged"}
    assert comparison.slide is not None
    assert (comparison.slide.detected, comparison.slide.nights) == (True, 5)
    assert len(comparison.log_products) == 7
    assert (comparison.significant, comparison.regressed) == (False, True)
    suspected = nights.night(3, *(nights.case(name, 2, 1) for name in "abcdef"))
    assert whole_of(suspected, THEN, log=PINNED).suspected
    slid = whole_of(suspected, THEN, log=replace(PINNED, nights=before))
    assert (slid.lower, slid.regressed, slid.suspected) == (True, True, False)


@pytest.mark.parametrize(
    ("trials", "paired"),
    [
        pytest.param((15, 15, 3), 2, id="tested: a case with few trials has moved alone"),
        pytest.param((20, 20, 15), 3, id="tested: no more than the configured trials are needed"),
        pytest.param((3, 3, 1), 3, id="not tested"),
    ],
)
def test_which_cases_are_in_the_mean(trials: tuple[int, ...], paired: int) -> None:
    then = report(*(nights.case(name, n) for name, n in zip("abc", trials, strict=True)))
    now = report(*(nights.case(name, 1) for name in "abc"))
    assert whole_of(now, then).paired == paired


def test_further_trials_of_cleared_suspects_are_counted() -> None:
    cleared = replace(nights.case("a", 7, 5), further_trials=9)
    confirmed = replace(nights.case("b", 0, 20), further_trials=17)
    then = report(*(nights.case(name, 15) for name in "abc"))
    found = whole_of(report(cleared, confirmed, nights.case("c", 3)), then).suspects
    assert found is not None
    assert (found.suspects, found.confirmed, found.further_trials) == (2, 1, 9)


def test_marks_of_an_equal_answer_in_the_baseline_show_the_noise_of_the_judge() -> None:
    now, then = (
        report(replace(graded(0.9), answer="Hi", evaluators=(a_rubric(a_criterion(mark=mark)),)))
        for mark in (True, False)
    )
    assert now.totals.judge_noise == ()
    (noise,) = compared(now, then).totals.judge_noise
    assert (noise.id, noise.repeated, noise.differing) == ("c", 1, 1)


@pytest.mark.parametrize(
    ("false_alarms", "significant"),
    [
        pytest.param(0.05, False, id="below the p-value"),
        pytest.param(0.0625, False, id="the p-value"),
        pytest.param(0.2, True, id="above the p-value"),
    ],
)
def test_the_mean_is_tested_at_the_budget(false_alarms: float, *, significant: bool) -> None:
    then = report(*(nights.case(name, 15) for name in "abcde"))
    now = report(*(nights.case(name, 2, 1) for name in "abcde"))
    config = RegressionConfig(false_alarms=false_alarms)
    comparison = whole_of(replace(now, regression=config), then)
    assert (comparison.p_value, comparison.significant) == (0.0625, significant)


NAMES = "abcdefghij"


def by_night(*means: float, spread: float = 0.0) -> Baseline:
    """Return a reference of ten cases with three trials in each of these nights."""
    each = {
        f"2026-01-{day:02}": (mean - spread, mean, mean + spread)
        for day, mean in enumerate(means, 1)
    }
    pooled = [score for scores in each.values() for score in scores]
    then = report(*(trials(*pooled, case=name) for name in NAMES))
    known = {("a.yaml", name): each for name in NAMES}
    return Baseline(report=then, log=PINNED, nights=known)


Lower: TypeAlias = tuple[float, tuple[float, float] | None, bool]


def a_lower_night(by: float, baseline: Baseline) -> Lower:
    """Return p-value, interval and significance of a night whose marks are all lower."""
    middle = 0.8 - by
    now = report(*(trials(middle, middle, middle, case=name) for name in NAMES))
    found = whole(compare(now, baseline))
    assert found.p_value is not None
    assert found.mean_difference == round(-by, 9)
    low, high = found.interval or (0.0, 0.0)
    ends = (round(low, 4), round(high, 4)) if found.interval else None
    return round(found.p_value, 4), ends, found.significant


ALIKE, APART = (0.8,) * 5, (0.7, 0.75, 0.8, 0.85, 0.9)


@pytest.mark.parametrize(
    ("by", "baseline", "expected"),
    [
        (0.05, by_night(*ALIKE), (0.002, None, True)),
        (0.05, by_night(*APART), (0.5946, (-0.2904, 0.1904), False)),
        (0.2, by_night(*APART), (0.0821, (-0.4404, 0.0404), False)),
        (0.3, by_night(*APART), (0.0257, (-0.5404, -0.0596), True)),
        (0.79, by_night(*APART), (0.002, (-1.0, -0.5496), True)),
        (-0.2, by_night(*APART), (0.0821, (-0.0404, 0.4404), False)),
        (0.05, replace(by_night(*APART), nights={}), (0.002, None, True)),
        (0.05, by_night(0.75, 0.85, spread=0.1), (0.002, None, True)),
    ],
    ids=[
        *("nights that are alike", "nights that differ by more", "by about as much", "by less"),
        *("the scale ends", "a rise", "nights that are not known", "too few nights"),
    ],
)
def test_a_night_is_lower_by_more_than_the_nights_of_the_reference_differ(
    by: float, baseline: Baseline, expected: Lower
) -> None:
    """Every case is lower, which no case by itself could show to be what a night shares."""
    assert a_lower_night(by, baseline) == expected


FEW_NIGHTS = "The reference has fewer than 3 nights and does not show how much nights differ: "
ALIKE_NIGHTS = "Trials of one night of the reference agree more than trials of different nights "


@pytest.mark.parametrize(
    ("baseline", "starts"),
    [
        (by_night(*APART, spread=0.01), [ALIKE_NIGHTS]),
        (by_night(*ALIKE, spread=0.1), []),
        (by_night(*ALIKE[:2]), [FEW_NIGHTS]),
        (replace(by_night(*ALIKE), nights={}), [FEW_NIGHTS]),
        (replace(by_night(*ALIKE), nights={}, log=None), []),
    ],
)
def test_notes_on_the_nights_of_a_reference(baseline: Baseline, starts: list[str]) -> None:
    now = report(*(trials(0.8, 0.8, 0.8, case=name) for name in NAMES))
    notes = whole(compare(now, baseline)).notes
    notes = tuple(note for note in notes if "provisional" not in note)
    assert [note[: len(start)] for note, start in zip(notes, starts, strict=True)] == starts


def test_without_a_reference_the_mean_is_tested_at_five_percent() -> None:
    then = report(*(graded(0.9, case=name) for name in "abcde"))
    now = report(*(graded(0.88, case=name) for name in "abcde"))
    comparison = whole_of(replace(now, regression=RegressionConfig(false_alarms=0.2)), then)
    assert (comparison.p_value, comparison.significant) == (0.0625, False)


SCORES = st.integers(0, 100).map(lambda n: n / 100)
CASES = st.builds(
    graded, SCORES, fails=st.booleans(), case=st.sampled_from("abcd"), file=st.just("a.yaml")
)
REPORTS = st.lists(CASES, unique_by=lambda case: case.id).map(lambda cases: report(*cases))


@given(REPORTS)
def test_a_report_is_like_itself(itself: RunReport) -> None:
    found = compared(itself, itself)
    assert {case.change for case in found.cases} <= {"unchanged", "failing-before"}
    assert not whole(found).regressed


@given(REPORTS, REPORTS)
def test_forth_and_back_are_opposites(one: RunReport, other: RunReport) -> None:
    """A break is no break the other way round; better without a better verdict is no change."""
    opposite = {"fixed": {"broken"}, "new": {"removed"}, "removed": {"new"}}
    same = {"unchanged", "failing-before"}
    forth, back = by_id(compared(one, other)), by_id(compared(other, one))
    assert forth.keys() == back.keys()
    for name, kind in forth.items():
        expected = {"fixed"} | same if kind == "broken" else opposite.get(kind, same | {"broken"})
        assert back[name] in expected


def by_id(report: RunReport) -> dict[str, str]:
    return {name: kind for kind, name in (each.split() for each in kinds(report))}
