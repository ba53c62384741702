"""How a case differs from before, by first answers and by those to asking again."""

from dataclasses import replace
from typing import Any

import pytest

from rubric_ci.gate.comparison import rule, verdicts
from rubric_ci.gate.comparison.verdicts import NOTED, Compared
from rubric_ci.values.comparison import Comparison, RegressionConfig, Together
from rubric_ci.values.report import Against
from rubric_ci.values.results import (
    Answers,
    AnswerSource,
    AskedAgain,
    BaseResult,
    CaseResult,
    Change,
    Graded,
    Trial,
)
from rubric_ci.values.scoring import Verdict
from rubric_ci.values.trace import CaseTrace, Step
from rubric_ci.values.usage import Usage
from tests.sample_reports import errored, graded, skipped

PASS, FAIL = graded("a", "pass"), graded("a", "fail")
WAIVED = graded("a", "fail", without_waived="pass")
BORDERLINE = graded("a", "borderline")
BEFORE = BaseResult(outcome="graded", verdict="pass", score=1.0)


@pytest.mark.parametrize(
    ("head", "base", "change", "reason"),
    [
        (FAIL, PASS, "broken", ""),
        (BORDERLINE, PASS, "broken", ""),
        (FAIL, BORDERLINE, "broken", ""),
        (PASS, FAIL, "better", ""),
        (PASS, PASS, "unchanged", ""),
        (FAIL, FAIL, "failing-before", ""),
        (WAIVED, PASS, "unchanged", ""),
        (WAIVED, WAIVED, "failing-before", ""),
        (FAIL, WAIVED, "broken", ""),
        (errored("a", "late"), PASS, "not-comparable", "no verdict: late"),
        (PASS, errored("a", "late"), "not-comparable", "no verdict at the base: late"),
        (PASS, skipped("a", "none"), "not-comparable", "not graded at the base: none"),
    ],
)
def test_by_first_answers(head: CaseResult, base: CaseResult, change: Change, reason: str) -> None:
    assert verdicts.compare(head, base) == Compared(change=change, reason=reason)


def answered(verdict: Verdict, *answers: str, **facts: Any) -> Graded:
    """Return a case with these answers, all with this verdict."""
    score = graded("a", verdict).score
    each = tuple(Trial(verdict=verdict, score=score, answer=text, **facts) for text in answers)
    return graded("a", verdict, trials=each)


GOOD, BAD = answered("pass", *["good"] * 6), answered("fail", *["bad"] * 6)
UNEVEN = answered("fail", "bad", "worse", *["bad"] * 4)
COUNTS = Answers(asked=6, passed=0, held=0), Answers(asked=6, passed=6, held=6)


@pytest.mark.parametrize(
    ("here", "before", "config", "found"),
    [
        pytest.param(BAD, GOOD, {}, ("broken", "", True), id="each side repeats its answer"),
        pytest.param(UNEVEN, GOOD, {}, ("broken", "", False), id="one side does"),
        pytest.param(BAD, GOOD, {"repeated": "note"}, ("not-confirmed", NOTED, True), id="a note"),
        pytest.param(
            UNEVEN, GOOD, {"repeated": "note"}, ("broken", "", False), id="answers that differ"
        ),
    ],
)
def test_answers_that_repeat(
    here: Graded, before: Graded, config: dict[str, Any], found: tuple[Change, str, bool]
) -> None:
    settings = RegressionConfig(**config)
    change, reason, repeats = found
    asked = AskedAgain(here=COUNTS[0], before=COUNTS[1], repeats=repeats)
    concluded = verdicts.conclude(here, before, PASS, rule.needs(5), settings)
    assert concluded == Compared(change=change, reason=reason, asked=asked)


def test_recorded_answers_are_judged_again() -> None:
    found = verdicts.conclude(BAD, GOOD, PASS, rule.needs(5), RegressionConfig(), judged=True)
    assert found.asked == AskedAgain(here=COUNTS[0], before=COUNTS[1], judged=True)


def test_the_verdict_of_the_first_round_counts() -> None:
    """Two of three trials passed first, so that the median of six may be another one."""
    first = graded("a", "borderline")
    before = answered("borderline", *["so"] * 6)
    found = verdicts.conclude(BAD, before, first, rule.needs(5), RegressionConfig())
    assert found.change == "broken"
    assert found.asked is not None
    assert found.asked.before == Answers(asked=6, passed=0, held=6)


def test_work_is_part_of_an_answer() -> None:
    same = answered("pass", "done", "done", trace=CaseTrace(steps=(Step(tool="ls"),)))
    other = replace(same.trials[1], trace=CaseTrace(steps=(Step(tool="rm"),)))
    assert verdicts.repeats(same)
    assert not verdicts.repeats(replace(same, trials=(same.trials[0], other)))
    assert not verdicts.repeats(PASS)
    assert not verdicts.repeats(answered("pass", "one"))
    unknown = tuple(replace(each, answer=None) for each in same.trials)
    assert not verdicts.repeats(replace(same, trials=unknown))


FOUND = Compared(change="broken", reason="why", asked=AskedAgain(here=COUNTS[0], before=COUNTS[1]))


@pytest.mark.parametrize(
    ("case", "more"),
    [
        (FAIL, {"asked_again": FOUND.asked, "before": BEFORE}),
        (errored("a", "late"), {"before": BEFORE}),
        (skipped("a", "no rubrics"), {}),
    ],
)
def test_a_case_keeps_how_it_differs(case: CaseResult, more: dict[str, Any]) -> None:
    expected = replace(case, change="broken", change_reason="why", **more)
    assert verdicts.changed(case, FOUND, BEFORE) == expected


ANSWERED: dict[str, Any] = {
    "answer": "Hello.",
    "answered_at": "2026-01-01T00:00:00Z",
    "usage": Usage(calls=2),
    "reason": "because",
}


@pytest.mark.parametrize(
    ("facts", "source"),
    [({}, "asked"), ({"answer_reused": True}, "reused"), ({"recorded": True}, "recorded")],
)
def test_what_a_report_shows_of_the_base(facts: dict[str, Any], source: AnswerSource) -> None:
    trials = (Trial(verdict="pass", score=1.0), Trial(verdict="fail", score=0.0))
    base = graded("a", "pass", trials=trials, further_trials=1, **ANSWERED, **facts)
    assert verdicts.base_result(base) == BaseResult(
        outcome="graded",
        verdict="pass",
        score=1.0,
        source=source,
        trials=trials,
        further_trials=1,
        evaluators=base.evaluators,
        **ANSWERED,
    )


def test_what_a_report_shows_of_a_base_without_verdict() -> None:
    late = errored("a", **{**ANSWERED, "reason": "late"})
    assert verdicts.base_result(late) == BaseResult(
        outcome="errored", **{**ANSWERED, "reason": "late"}
    )
    assert verdicts.base_result(skipped("a", "none")) == BaseResult(
        outcome="skipped", reason="none"
    )


NOTHING = BaseResult(outcome="errored", reason="late")
AGAINST = Against(ref="main", commit="1" * 40)


BROKE = {"compared": 1, "passed_before": 1, "mean": 0.0, "mean_before": 1.0, "worse": True}
SAME = {"compared": 1, "passed": 1, "passed_before": 1, "mean": 1.0, "mean_before": 1.0}


@pytest.mark.parametrize(
    ("cases", "facts"),
    [
        ((replace(FAIL, change="broken", before=BEFORE),), BROKE),
        ((replace(PASS, change="unchanged", before=BEFORE),), SAME),
        ((replace(PASS, change="not-comparable", before=NOTHING),), {}),
        ((replace(FAIL, change="new"), errored("b", before=BEFORE)), {}),
    ],
    ids=["broken", "unchanged", "no verdict before", "new and errored"],
)
def test_the_comparison_with_a_commit(cases: tuple[CaseResult, ...], facts: dict[str, Any]) -> None:
    own: dict[str, Any] = {"compared": 0, "passed": 0, "passed_before": 0, "worse": False, **facts}
    expected = Comparison(source="commit", ref="main", commit="1" * 40, **own)
    assert verdicts.of_commit(AGAINST, cases) == expected


def test_all_cases_together_make_a_run_worse() -> None:
    every = Together(cases=200, clusters=200, fewer_pass=9, more_fail=9, p_value=0.001, worse=True)
    found = verdicts.of_commit(replace(AGAINST, together=every), [PASS])
    assert (found.worse, found.fell, found.together) == (True, True, every)
