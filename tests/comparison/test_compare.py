"""A report against its baseline."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.comparison.compare import compare
from rubric_ci.model.gate import GateInfo
from rubric_ci.model.reference_log import Decision, Night, ReferenceLog
from rubric_ci.model.regression_config import RegressionConfig
from rubric_ci.model.report import (
    CaseChange,
    ChangeKind,
    Comparison,
    JudgeInfo,
    RunReport,
    SuspectCounts,
    run_verdict,
    totals,
)
from rubric_ci.model.results import CaseResult, Errored, Graded, Skipped, Trial, VerdictWord
from rubric_ci.model.scope import NARROWINGS, Narrowing, Scope
from rubric_ci.model.scoring import verdict
from tests import nights

JUDGE = JudgeInfo(model="openai/m", prompt_version="1")


def graded(score: float, *, fails: bool = False, case: str = "a", file: str = "a.yaml") -> Graded:
    word: VerdictWord = "fail" if fails else verdict(score).value
    return Graded(file=file, line=1, id=case, verdict=word, score=score, reason="")


def trials(*scores: float, case: str = "a") -> Graded:
    each = tuple(Trial(verdict=verdict(score).value, score=score) for score in scores)
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


def against(before: CaseResult | None, after: CaseResult | None) -> tuple[CaseChange, ...]:
    then, now = (report(*([case] if case else [])) for case in (before, after))
    return compare(now, then).changes


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        (graded(0.9), graded(0.9), "same"),
        (graded(0.9), graded(0.85), "same"),
        (graded(0.95), graded(0.9), "same"),  # 0.05 in decimals, a little more in binary
        (graded(0.9), graded(0.84), "regressed"),
        (graded(0.84), graded(0.9), "improved"),
        (graded(0.8), graded(0.79), "regressed"),
        (graded(0.59), graded(0.6), "improved"),
        (graded(0.9), graded(0.9, fails=True), "regressed"),
        (graded(0.7), graded(0.95, fails=True), "regressed"),
        (graded(0.95, fails=True), graded(0.7), "improved"),
        (None, graded(0.1), "new"),
        (ERRORED, graded(0.1), "new"),
        (SKIPPED, graded(0.1), "new"),
        (graded(0.9), ERRORED, "errored"),
        (ERRORED, ERRORED, "errored"),
        (None, ERRORED, "errored"),
        (graded(0.9), SKIPPED, "gone"),
        (graded(0.9), None, "gone"),
    ],
)
def test_kind(before: CaseResult | None, after: CaseResult | None, kind: ChangeKind) -> None:
    (change,) = against(before, after)
    assert change.kind == kind


@pytest.mark.parametrize("before", [None, SKIPPED, ERRORED], ids=["new", "skipped", "errored"])
def test_a_skipped_case_without_an_earlier_verdict_is_not_compared(
    before: CaseResult | None,
) -> None:
    assert against(before, SKIPPED) == ()


@pytest.mark.parametrize(
    ("before", "after", "kind", "flips"),
    [
        (trials(0.9, 0.9, 0.9), trials(0.5, 0.5, 0.5), "regressed", False),
        (trials(0.9, 0.9, 0.5), trials(0.5, 0.5, 0.5), "flaky", True),
        (trials(0.9, 0.9, 0.9), trials(0.9, 0.5, 0.5), "flaky", True),
        (trials(0.9, 0.9, 0.5), trials(0.9, 0.5, 0.9), "same", True),
        (trials(0.9, 0.9, 0.7), trials(0.5, 0.4, 0.3), "regressed", True),
        (trials(0.95, 0.9, 0.9), trials(0.85, 0.8, 0.8), "regressed", False),
        (trials(0.95, 0.9, 0.84), trials(0.85, 0.8, 0.8), "flaky", False),
        (trials(0.5, 0.5, 0.5), trials(0.9, 0.9, 0.9), "improved", False),
        (graded(0.9), trials(0.5, 0.5, 0.9), "flaky", True),
        (graded(0.9), trials(0.5, 0.5, 0.6), "regressed", True),
    ],
)
def test_trials(before: Graded, after: Graded, kind: ChangeKind, *, flips: bool) -> None:
    (change,) = against(before, after)
    assert (change.kind, change.flips) == (kind, flips)


def mixed(*each: tuple[VerdictWord, float]) -> Graded:
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
            "regressed",
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
            "regressed",
            id="the-scores-are-separated-and-fell",
        ),
    ],
)
def test_the_separation_is_in_what_changed(before: Graded, after: Graded, kind: ChangeKind) -> None:
    (change,) = against(before, after)
    assert change.kind == kind


def test_many_rises_and_fewer_larger_falls_are_no_fall_of_the_mean() -> None:
    scores = [0.51] * 350 + [0.49] * 147 + [0.48] * 104
    then = report(*(graded(0.5, case=f"c{n}") for n in range(601)))
    comparison = compare(report(*(graded(s, case=f"c{n}") for n, s in enumerate(scores))), then)
    assert comparison.p_value == pytest.approx(0.8686, abs=1e-4)
    assert (comparison.significant, comparison.regressed) == (False, False)


def test_a_case_that_has_moved_is_the_same_case() -> None:
    (change,) = against(graded(0.9), graded(0.5, file="b.yaml"))
    assert (change.kind, change.file, change.difference) == ("regressed", "b.yaml", -0.4)


def test_an_id_of_two_files_has_not_moved() -> None:
    then = report(graded(0.9, file="b.yaml"), graded(0.5, file="c.yaml"))
    kinds = [(c.kind, c.file) for c in compare(report(graded(0.9)), then).changes]
    assert kinds == [("gone", "b.yaml"), ("gone", "c.yaml"), ("new", "a.yaml")]


@pytest.mark.parametrize("how", [name for name in NARROWINGS if name != "replay"])
def test_a_case_that_did_not_run_is_not_gone(how: Narrowing) -> None:
    then = report(graded(0.9), graded(0.9, case="b"))
    now = replace(report(graded(0.9)), scope=Scope(suite=2).narrowed(how))
    comparison = compare(now, then)
    assert [c.id for c in comparison.changes] == ["a"]
    note = f"This report covers {now.covers}; the other cases are not compared."
    assert comparison.notes[0] == note


def test_a_replayed_run_is_the_whole_suite() -> None:
    then = report(graded(0.9), graded(0.9, case="b"))
    now = replace(report(graded(0.9)), scope=Scope(suite=1).narrowed("replay"))
    assert [(c.kind, c.id) for c in compare(now, then).changes] == [("gone", "b"), ("same", "a")]


def test_a_baseline_of_a_part_is_named() -> None:
    then = replace(report(graded(0.9)), scope=Scope(suite=2).narrowed("case"))
    note = "The baseline covers 1 of 2 cases: --case; the other cases are not compared."
    assert compare(report(graded(0.9)), then).notes[0] == note


def test_what_needs_attention_comes_first() -> None:
    then = report(*(graded(0.7, case=name) for name in "abcd"))
    now = report(
        graded(0.7, case="a"),
        graded(0.9, case="b"),
        graded(0.1, case="c"),
        graded(0.1, case="e"),
        replace(ERRORED, id="d"),
    )
    assert [(c.kind, c.id) for c in compare(now, then).changes] == [
        ("regressed", "c"),
        ("errored", "d"),
        ("improved", "b"),
        ("new", "e"),
        ("same", "a"),
    ]


def falling(number: int, by: float) -> Comparison:
    then = report(*(graded(0.9, case=f"c{n}") for n in range(number)))
    now = report(*(graded(round(0.9 - by, 6), case=f"c{n}") for n in range(number)))
    return compare(now, then)


def test_the_whole() -> None:
    comparison = falling(6, 0.02)
    assert comparison.paired == 6
    assert comparison.mean_difference == -0.02
    assert comparison.interval == pytest.approx((-0.02, -0.02))
    assert comparison.p_value == 0.03125
    assert comparison.count("same") == 6


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
    comparison = falling(cases, by)
    assert (comparison.significant, comparison.regressed) == (significant, regressed)


def test_one_case_down_and_one_up_is_no_draw() -> None:
    then = report(graded(1.0, case="a"), graded(0.0, case="b"))
    now = report(graded(0.0, case="a"), graded(1.0, case="b"))
    comparison = compare(now, then)
    assert comparison.mean_difference == 0
    assert (comparison.count("regressed"), comparison.count("improved")) == (1, 1)
    assert comparison.regressed


def test_nothing_in_common() -> None:
    comparison = compare(report(graded(0.9)), report(graded(0.9, case="b")))
    found = (comparison.mean_difference, comparison.interval, comparison.p_value)
    assert found == (None, None, None)
    assert not comparison.regressed


def test_different_judges_and_thresholds_are_reported() -> None:
    now = replace(
        report(),
        judge=JudgeInfo(model="openai/n", prompt_version="2"),
        gate=GateInfo(fail_on="fail", passing=0.9, borderline=0.6, holds=True),
    )
    assert compare(now, report()).notes == (
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
    (note,) = compare(now, then).notes
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
    assert "".join(compare(head, then).notes) == note


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


def test_a_pinned_reference_says_which_cases_are_worse() -> None:
    comparison = compare(WORSE, REFERENCE, log=PINNED)
    assert [f"{c.kind} {c.id}" for c in comparison.changes] == [
        *(f"regressed {name}" for name in "abcdefgh"),
        *("errored y", "improved z"),
    ]
    assert comparison.suspects == SuspectCounts(
        false_alarms=0.05, suspects=8, confirmed=8, undecided=0, further_trials=0
    )
    assert (comparison.significant, comparison.regressed) == (True, True)
    assert comparison.judge_moved == ""


OTHER_JUDGE = replace(WORSE, judge=JudgeInfo(model="openai/n", prompt_version="1"))


def test_nothing_is_concluded_from_marks_of_another_judge() -> None:
    then = replace(REFERENCE, judge=JUDGE)
    comparison = compare(OTHER_JUDGE, then, log=PINNED)
    assert [f"{c.kind} {c.id}" for c in comparison.changes] == [
        "errored y",
        *(f"unclear {name}" for name in "abcdefghz"),
    ]
    assert comparison.judge_moved == "The judge changed (`openai/m`, now `openai/n`)"
    assert comparison.p_value is not None
    found = (comparison.significant, comparison.regressed, comparison.suspects)
    assert found == (False, False, None)
    assert comparison.reference == compare(WORSE, then, log=PINNED).reference
    assert comparison.reference is not None


def test_another_judge_is_only_noted_if_nothing_is_pinned() -> None:
    comparison = compare(OTHER_JUDGE, replace(REFERENCE, judge=JUDGE))
    assert (comparison.judge_moved, comparison.regressed) == ("", True)


def test_a_slide_of_many_nights_is_worse_although_no_case_is() -> None:
    then = nights.night(1, *(nights.case(name, 15) for name in "abcde"))
    now = nights.night(3, *(nights.case(name, 4, 1) for name in "abcde"))
    before = Night(
        started_at="2026-01-02T00:00:00+00:00", gate="pass", worse=False, log_products=(9.0,) * 7
    )
    assert not compare(now, then, log=PINNED).regressed
    comparison = compare(now, then, log=replace(PINNED, nights=(before,)))
    assert {change.kind for change in comparison.changes} == {"same"}
    assert comparison.slide is not None
    assert (comparison.slide.detected, comparison.slide.nights) == (True, 2)
    assert len(comparison.log_products) == 7
    assert (comparison.significant, comparison.regressed) == (False, True)


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
    comparison = compare(replace(now, regression=config), then)
    assert (comparison.p_value, comparison.significant) == (0.0625, significant)


def test_without_a_reference_the_mean_is_tested_at_five_percent() -> None:
    then = report(*(graded(0.9, case=name) for name in "abcde"))
    now = report(*(graded(0.88, case=name) for name in "abcde"))
    comparison = compare(replace(now, regression=RegressionConfig(false_alarms=0.2)), then)
    assert (comparison.p_value, comparison.significant) == (0.0625, False)


SCORES = st.integers(0, 100).map(lambda n: n / 100)
CASES = st.builds(
    graded, SCORES, fails=st.booleans(), case=st.sampled_from("abcd"), file=st.just("a.yaml")
)
REPORTS = st.lists(CASES, unique_by=lambda case: case.id).map(lambda cases: report(*cases))


@given(REPORTS)
def test_a_report_is_like_itself(itself: RunReport) -> None:
    comparison = compare(itself, itself)
    assert {change.kind for change in comparison.changes} <= {"same"}
    assert not comparison.regressed


@given(REPORTS, REPORTS)
def test_forth_and_back_are_opposites(one: RunReport, other: RunReport) -> None:
    opposite = {"regressed": "improved", "improved": "regressed", "new": "gone", "gone": "new"}
    forth = {c.id: c.kind for c in compare(one, other).changes}
    back = {c.id: c.kind for c in compare(other, one).changes}
    assert forth == {key: opposite.get(kind, kind) for key, kind in back.items()}
