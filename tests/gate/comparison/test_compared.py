"""A report against its baseline."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.gate.comparison import phrases
from rubric_ci.gate.comparison.reference import Decision, ReferenceLog, night_of
from rubric_ci.gate.comparison.verdicts import SUSPECTED
from rubric_ci.values.comparison import RegressionConfig
from rubric_ci.values.gate import GateInfo
from rubric_ci.values.report import JudgeInfo, RunReport, run_verdict, totals
from rubric_ci.values.results import (
    Answers,
    AskedAgain,
    BaseResult,
    CaseResult,
    Change,
    Errored,
    Graded,
    Skipped,
    Trial,
)
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
        (graded(1.0), graded(0.8), "unchanged"),  # the verdict counts, not the score
        (graded(0.8), graded(1.0), "unchanged"),
        (graded(0.8), graded(0.79), "broken"),
        (graded(0.59), graded(0.6), "better"),
        (graded(0.3), graded(0.5), "failing-before"),
        (graded(0.9), graded(0.9, fails=True), "broken"),
        (graded(0.7), graded(0.95, fails=True), "broken"),
        (graded(0.95, fails=True), graded(0.7), "better"),
        (None, graded(0.1), "new"),
        (ERRORED, ERRORED, "not-comparable"),
        (None, ERRORED, "new"),
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
    ("before", "after", "kind", "counts"),
    [
        pytest.param([0.9], [0.5], "broken", (0, 1, 1, 1), id="one answer each"),
        pytest.param([0.9], [0.5, 0.5, 0.9], "not-confirmed", (1, 3, 1, 1), id="one holds"),
        pytest.param([0.9] * 3, [0.5] * 6, "broken", (0, 6, 3, 3), id="three kept"),
        pytest.param([0.9] * 3, [0.5] * 5 + [0.9], "broken", (1, 6, 3, 3), id="one dissents"),
        pytest.param([0.9, 0.9, 0.5], [0.5] * 6, "not-confirmed", (0, 6, 2, 3), id="one fell"),
        pytest.param([0.9] * 4 + [0.5], [0.5] * 6, "broken", (0, 6, 4, 5), id="one of five fell"),
        pytest.param([0.7] * 3, [0.5] * 3, "broken", (0, 3, 3, 3), id="borderline before"),
    ],
)
def test_answers_count_as_they_are(
    before: list[float], after: list[float], kind: Change, counts: tuple[int, int, int, int]
) -> None:
    (case,) = against(trials(*before), trials(*after)).cases
    assert isinstance(case, Graded)
    assert case.change == kind
    asked = case.asked_again
    assert asked is not None
    found = asked.here.held, asked.here.asked, asked.before.held, asked.before.asked
    assert found == counts


def test_a_case_that_repeats_its_answer_may_be_a_note() -> None:
    def said(answer: str, score: float) -> Graded:
        each = Trial(verdict=verdict(score), score=score, answer=answer)
        return replace(graded(score), trials=(each, each, each, each, each))

    then, now = report(said("GOOD", 0.9)), report(said("BAD", 0.1))
    (case,) = compared(now, then).cases
    assert isinstance(case, Graded)
    answers = Answers(asked=5, passed=0, held=0), Answers(asked=5, passed=5, held=5)
    assert case.asked_again == AskedAgain(here=answers[0], before=answers[1], repeats=True)
    assert (case.change, phrases.why(case)) == ("broken", "Always: passed before, fails now")
    noted = replace(now, regression=RegressionConfig(repeated="note"))
    (case,) = compared(noted, then).cases
    assert (case.change, case.change_reason) == (
        "not-confirmed",
        "`regression.repeated` is `note`, so it does not count",
    )


def test_a_case_that_has_moved_is_the_same_case() -> None:
    found = against(graded(0.9), graded(0.5, file="b.yaml"))
    (case,) = found.cases
    assert (case.change, case.file, found.removed) == ("broken", "b.yaml", ())


@pytest.mark.parametrize("there", ["a", "a [m]"])
def test_a_case_of_one_target_is_its_row_where_several_answer(there: str) -> None:
    (here,) = {"a", "a [m]"} - {there}
    then = replace(graded(0.9, case=there), target="m")
    other = replace(graded(0.9, case="a [n]"), target="n")
    found = compared(report(replace(graded(0.5, case=here), target="m"), other), report(then))
    assert kinds(found) == [f"broken {here}", "new a [n]"]


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
    assert kinds(compared(now, then)) == ["removed b", "unchanged a"]


def test_a_baseline_of_a_part_is_named() -> None:
    then = replace(report(graded(0.9)), scope=Scope(suite=2).narrowed("case"))
    note = "The baseline covers 1 of 2 cases: case filter; the other cases are not compared."
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
        "better b",
        "new e",
        "not-comparable d",
        "unchanged a",
    ]


def test_the_whole() -> None:
    then = report(graded(0.9, case="a"), graded(0.9, case="b"), graded(0.2, case="c"))
    now = report(graded(0.9, case="a"), graded(0.5, case="b"), graded(0.2, case="c"))
    found = whole_of(now, then)
    assert (found.source, found.compared, found.passed, found.passed_before) == ("report", 3, 1, 2)
    assert (found.mean, found.mean_before) == (0.533333, 0.666667)
    assert (found.worse, found.together) == (True, None)


def test_nothing_in_common() -> None:
    found = whole_of(report(graded(0.9)), report(graded(0.9, case="b")))
    assert (found.compared, found.mean, found.worse) == (0, None, False)


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
REFERENCE = nights.night(1, *(nights.case(name, 5) for name in "abcdefghy"), nights.case("z", 0, 5))
WORSE = nights.night(
    2,
    *(nights.case(name, 0, 6) for name in "abcdefgh"),
    replace(ERRORED, file="e.yaml", id="y"),
    nights.case("z", 3),
)
LATER = "2026-01-03T00:00:00+00:00"


def test_a_pinned_reference_says_which_cases_are_worse() -> None:
    found = compared(WORSE, REFERENCE, log=PINNED)
    comparison = whole(found)
    assert kinds(found) == [
        *(f"not-confirmed {name}" for name in "abcdefgh"),
        "better z",
        "not-comparable y",
    ]
    assert found.cases[0].change_reason == SUSPECTED
    assert phrases.headline(found) == (
        "Worse tonight: a, b, c, d, e, f, g, h; confirmed if it is worse tomorrow"
    )
    assert (comparison.source, comparison.commit) == ("reference", "1" * 40)
    assert (comparison.worse, comparison.suspected) == (False, True)
    assert comparison.worse_cases == tuple(("e.yaml", name) for name in "abcdefgh")
    log = PINNED.with_night(night_of(found))
    again = compared(replace(WORSE, started_at=LATER), REFERENCE, log=log)
    assert phrases.why(again.cases[0]) == "Passed 5 of 5 before, 0 of 6 now"
    assert phrases.headline(again) == "8 cases broke: a, b, c, d, e, f, g, h"
    assert (whole(again).worse, whole(again).suspected) == (True, False)


def test_all_cases_together_are_lower_in_two_nights() -> None:
    names = [f"c{n}" for n in range(120)]
    then = nights.night(1, *(nights.case(name, 4, 1) for name in names))
    now = nights.night(2, *(nights.case(name, 1, 4) for name in names[:40]), *then.cases[40:])
    found = compared(now, then, log=PINNED)
    together = whole(found).together
    assert together is not None
    assert (together.clusters, together.worse) == (120, True)
    assert (whole(found).worse, whole(found).suspected) == (False, True)
    log = PINNED.with_night(night_of(found))
    assert whole(compared(replace(now, started_at=LATER), then, log=log)).worse


OTHER_JUDGE = replace(WORSE, judge=JudgeInfo(model="openai/n", prompt_version="1"))


@pytest.mark.parametrize(
    "log",
    [PINNED, PINNED.with_night(night_of(compared(WORSE, REFERENCE, log=PINNED)))],
    ids=["it would be suspected", "it would be worse"],
)
def test_nothing_is_concluded_from_marks_of_another_judge(log: ReferenceLog) -> None:
    then = replace(REFERENCE, judge=JUDGE)
    found = compared(replace(OTHER_JUDGE, started_at=LATER), then, log=log)
    comparison = whole(found)
    assert kinds(found) == [f"not-comparable {name}" for name in "abcdefghyz"]
    assert found.cases[0].change_reason == comparison.judge_moved
    assert comparison.judge_moved == "The judge changed (openai/m → openai/n)"
    assert (comparison.worse, comparison.suspected, comparison.worse_cases) == (False, False, ())


def test_another_judge_is_only_noted_if_nothing_is_pinned() -> None:
    comparison = whole_of(OTHER_JUDGE, replace(REFERENCE, judge=JUDGE))
    assert (comparison.judge_moved, comparison.worse) == ("", True)


def test_marks_of_an_equal_answer_in_the_baseline_show_the_noise_of_the_judge() -> None:
    now, then = (
        report(replace(graded(0.9), answer="Hi", evaluators=(a_rubric(a_criterion(mark=mark)),)))
        for mark in (True, False)
    )
    assert now.totals.judge_noise == ()
    (noise,) = compared(now, then).totals.judge_noise
    assert (noise.id, noise.repeated, noise.differing) == ("c", 1, 1)


SCORES = st.integers(0, 100).map(lambda n: n / 100)
CASES = st.builds(
    graded, SCORES, fails=st.booleans(), case=st.sampled_from("abcd"), file=st.just("a.yaml")
)
REPORTS = st.lists(CASES, unique_by=lambda case: case.id).map(lambda cases: report(*cases))


@given(REPORTS)
def test_a_report_is_like_itself(itself: RunReport) -> None:
    found = compared(itself, itself)
    assert {case.change for case in found.cases} <= {"unchanged", "failing-before"}
    assert not whole(found).worse


@given(REPORTS, REPORTS)
def test_forth_and_back_are_opposites(one: RunReport, other: RunReport) -> None:
    """A break is better the other way round."""
    opposite = {"better": {"broken"}, "new": {"removed"}, "removed": {"new"}}
    same = {"unchanged", "failing-before"}
    forth, back = by_id(compared(one, other)), by_id(compared(other, one))
    assert forth.keys() == back.keys()
    for name, kind in forth.items():
        expected = {"better"} | same if kind == "broken" else opposite.get(kind, same | {"broken"})
        assert back[name] in expected


def by_id(report: RunReport) -> dict[str, str]:
    return {name: kind for kind, name in (each.split() for each in kinds(report))}
