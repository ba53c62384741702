"""The median of several trials."""

from dataclasses import replace
from statistics import median_low
from typing import Any

import pytest

from rubric_ci.grading.trial_results import median_trial, with_more
from rubric_ci.values.evals import TrialRule
from rubric_ci.values.results import CaseResult, Errored, Graded, Skipped, Trial
from rubric_ci.values.trace import CaseTrace, Step
from rubric_ci.values.usage import Usage
from tests import sample_reports
from tests.sample_reports import a_criterion, a_rubric

ONE = Usage(calls=1)


def graded(verdict: Any, score: float, answer: str = "", **facts: Any) -> Graded:
    own = {"answer": answer, "usage": ONE, "evaluators": (), "reason": "why"}
    return sample_reports.graded("x", verdict, score=score, **{**own, **facts})


def errored(reason: str) -> Errored:
    return sample_reports.errored("x", reason, usage=ONE)


def settled(*results: CaseResult, rule: TrialRule | None = None) -> Graded:
    """Return the median of trials that have one."""
    found = median_trial(list(results), rule)
    assert isinstance(found, Graded)
    return found


MEDIANS: dict[str, tuple[list[CaseResult], str, str]] = {
    "one trial is itself": ([graded("pass", 1, "a")], "a", "why"),
    "the middle": (
        [graded("pass", 0.9, "a"), graded("pass", 1, "b"), graded("pass", 0.8, "c")],
        "a",
        "why",
    ),
    "the lower of two": (
        [graded("pass", 0.9, "a"), graded("fail", 0.4, "b")],
        "b",
        "why; trials: 1 fail, 1 pass",
    ),
    "a missed gate is below a pass": (
        [graded("fail", 0.95, "gate"), graded("pass", 0.8, "b"), graded("pass", 0.9, "c")],
        "b",
        "why; trials: 1 fail, 2 pass",
    ),
    "a trial without verdict is reported": (
        [graded("pass", 1, "a"), errored("429"), graded("pass", 0.9, "b")],
        "b",
        "why; no verdict in 1 of 3 trials: 429",
    ),
}


@pytest.mark.parametrize(("results", "answer", "reason"), MEDIANS.values(), ids=MEDIANS)
def test_graded(results: list[CaseResult], answer: str, reason: str) -> None:
    found = settled(*results)
    assert (found.answer, found.reason) == (answer, reason)
    assert found.usage == Usage(calls=len(results))


def test_every_trial_is_kept_in_order() -> None:
    found = settled(graded("pass", 1), errored("x"), graded("fail", 0.2), graded("pass", 0.8))
    assert found.trials == (
        Trial(verdict="pass", score=1, answer=""),
        Trial(verdict="fail", score=0.2, answer=""),
        Trial(verdict="pass", score=0.8, answer=""),
    )
    assert settled(graded("pass", 1)).trials == ()


def test_a_trial_keeps_its_verdict_without_waived_criteria() -> None:
    waived = graded("fail", 0.2, without_waived="pass", waived=("b", "a"))
    found = settled(waived, replace(waived, waived=("c", "a")), graded("fail", 0.1))
    assert found.waived == ("a", "b", "c")
    assert [each.without_waived for each in found.trials] == ["pass", "pass", None]
    assert found.trials_to_pass == 0


def marked(answer: str, mark: bool = True, **facts: Any) -> Graded:
    rubric = a_rubric(a_criterion("polite", mark=mark), score=1.0, verdict="pass")
    return graded("pass", 1.0, answer, evaluators=(rubric,), **facts)


def test_equal_texts_with_other_work_are_other_answers() -> None:
    work = [CaseTrace(steps=(Step(tool=tool),)) for tool in ("ls", "rm", "rm")]
    found = settled(*(marked("same", trace=trace) for trace in work))
    assert [trial.trace for trial in found.trials] == work
    assert [bool(trial.marks) for trial in found.trials] == [False, True, True]


def test_trials_of_one_answer_keep_their_marks() -> None:
    found = settled(marked("a"), marked("b"), marked("a", False))
    assert [each.marks for each in found.trials] == [(True,), (), (False,)]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6, 7, 8, 9])
def test_the_middle_or_the_lower_of_two(count: int) -> None:
    scores = [n / 10 for n in range(count)]
    assert settled(*(graded("fail", score) for score in scores)).score == median_low(scores)


@pytest.mark.parametrize(
    ("results", "reason"),
    [
        pytest.param([errored("429"), errored("429")], "429", id="all-alike"),
        pytest.param(
            [errored("429"), errored("500")],
            "no verdict in 2 of 2 trials; last reason: 500",
            id="all",
        ),
        pytest.param(
            [errored("429"), graded("pass", 1)],
            "no verdict in 1 of 2 trials; last reason: 429",
            id="half-is-not-enough",
        ),
    ],
)
def test_errored(results: list[CaseResult], reason: str) -> None:
    found = median_trial(results)
    assert isinstance(found, Errored)
    assert (found.reason, found.usage) == (reason, Usage(calls=len(results)))


def test_skipped() -> None:
    skipped = Skipped(file="a", line=1, id="x", reason="nothing")
    assert median_trial([skipped, skipped]) is skipped


def test_further_answers_are_part_of_the_median() -> None:
    more: list[CaseResult] = [graded("pass", 1), errored("429"), graded("pass", 0.9)]
    result = with_more(graded("fail", 0.2), more)
    assert (result.verdict, result.score, result.further_trials) == ("pass", 0.9, 2)
    assert [each.score for each in result.trials] == [0.2, 1, 0.9]
    assert result.reason == "why; trials: 1 fail, 2 pass"
    assert result.usage == Usage(calls=4)


def test_lost_further_answers_take_no_verdict_away() -> None:
    result = with_more(graded("fail", 0.2), [errored("429"), errored("500")])
    assert (result.verdict, result.trials, result.further_trials) == ("fail", (), 0)
    assert (result.reason, result.usage) == ("why", Usage(calls=3))


@pytest.mark.parametrize(
    ("more", "expected", "reason"),
    [
        ([graded("fail", 0.1)], ("fail", 0.2), "its median answer; trials: 3 fail, 1 pass"),
        ([graded("fail", 0.25)], ("fail", 0.25), "why; trials: 3 fail, 1 pass"),
        ([graded("pass", 1)] * 2, ("pass", 0.9), "its median answer; trials: 2 fail, 3 pass"),
        ([graded("pass", 0.85)] * 2, ("pass", 0.85), "why; trials: 2 fail, 3 pass"),
    ],
    ids=["another first", "a further one", "a first with no marks", "a further one that passes"],
)
def test_the_median_of_first_and_further_answers(
    more: list[CaseResult], expected: tuple[str, float], reason: str
) -> None:
    first = settled(graded("fail", 0.2), graded("fail", 0.3), graded("pass", 0.9))
    result = with_more(first, more)
    assert (result.verdict, result.score, result.reason) == (*expected, reason)
    assert len(result.trials) == 3 + len(more) == 3 + result.further_trials


K_OF_N = {
    "enough pass": (["pass", "pass", "fail"], 2, ("pass", "trials: 1 fail, 2 pass")),
    "one too few": (["pass", "fail", "fail"], 2, ("fail", "trials: 2 fail, 1 pass")),
    "all of them": (["pass", "pass", "pass"], 3, ("pass", "why")),
    "enough are borderline": (["pass", "borderline", "fail"], 2, ("borderline", "1 borderline")),
    "decided without the errored one": (["pass", "pass", "errored"], 2, ("pass", "1 of 3")),
    "lost whatever the errored one is": (["fail", "fail", "errored"], 2, ("fail", "1 of 3")),
    "the errored one decides": (["pass", "fail", "errored"], 2, ("errored", "in 1 of 3 trials")),
    "none has a verdict": (["errored", "errored", "errored"], 2, ("errored", "lost")),
    "one pass of one, one errored": (["pass", "errored"], 1, ("pass", "1 of 2")),
    "one must pass, one errored": (["fail", "errored"], 1, ("errored", "in 1 of 2 trials")),
    "both must pass, one errored": (["pass", "errored"], 2, ("errored", "in 1 of 2 trials")),
    "one trial": (["fail"], 1, ("fail", "why")),
}


def a_trial(verdict: str) -> CaseResult:
    if verdict == "errored":
        return errored("lost")
    return graded(verdict, {"pass": 1.0, "borderline": 0.7, "fail": 0.1}[verdict])


@pytest.mark.parametrize(("verdicts", "passes", "expected"), K_OF_N.values(), ids=K_OF_N)
def test_k_of_n(verdicts: list[str], passes: int, expected: tuple[str, str]) -> None:
    rule = TrialRule(count=len(verdicts), passes=passes)
    result = median_trial([a_trial(verdict) for verdict in verdicts], rule)
    found = result.verdict if isinstance(result, Graded) else result.outcome
    assert (found, expected[1] in result.reason) == (expected[0], True)
    if isinstance(result, Graded):
        assert result.trials_to_pass == passes


def test_further_answers_keep_the_share() -> None:
    rule = TrialRule(count=3, passes=2)
    first = settled(graded("pass", 1), graded("fail", 0.1), graded("fail", 0.1), rule=rule)
    result = with_more(first, [graded("pass", 1)])
    assert (result.verdict, result.trials_to_pass) == ("fail", 3)
