"""The first trials of a case: means use no others."""

from dataclasses import replace
from statistics import median_low
from typing import Any

import pytest

from rubric_ci.values.evals import TrialRule
from rubric_ci.values.report import totals
from rubric_ci.values.results import CaseResult, Errored, Graded, Skipped, Trial
from rubric_ci.values.scoring import verdict
from rubric_ci.values.trace import CaseTrace, Step
from rubric_ci.values.trials import first_mean, first_result, median_trial, with_more
from rubric_ci.values.usage import Usage
from tests import sample_reports
from tests.sample_reports import a_criterion, a_rubric, graded


def case(*scores: float, further: int = 0, to_pass: int = 0) -> Graded:
    """Return a case with these trials, the first ones first, and the last as its result."""
    trials = tuple(Trial(verdict=verdict(score), score=score) for score in scores)
    facts = {"trials_to_pass": to_pass, "further_trials": further, "trials": trials}
    return graded("a", trials[-1].verdict, score=scores[-1], **facts)


@pytest.mark.parametrize(
    ("found", "mean", "verdict_of_first", "score"),
    [
        pytest.param(graded("a", "pass"), 1.0, "pass", 1.0, id="one trial"),
        pytest.param(case(0.0, 1.0), 0.5, "pass", 1.0, id="no further: the case's own result"),
        pytest.param(case(0.0, 1.0, 1.0, further=2), 0.0, "fail", 0.0, id="one first trial"),
        pytest.param(
            case(0.0, 0.9, 0.7, 1.0, 1.0, further=2), 0.533333, "borderline", 0.7, id="the median"
        ),
        pytest.param(case(0.0, 0.9, 1.0, 1.0, further=2), 0.45, "fail", 0.0, id="the lower median"),
        pytest.param(
            case(0.0, 0.7, 0.9, *[1.0] * 7, further=7, to_pass=7),
            0.533333,
            "borderline",
            0.7,
            id="a rule: 2 of 3, rounded up to 7 of 10",
        ),
        pytest.param(
            case(0.0, 0.7, 0.9, *[1.0] * 7, further=7, to_pass=4),
            0.533333,
            "pass",
            0.9,
            id="a rule: 1 of 3",
        ),
    ],
)
def test_first_trials(found: Graded, mean: float, verdict_of_first: str, score: float) -> None:
    result = first_result(found)
    assert (first_mean(found), result.verdict, result.score) == (mean, verdict_of_first, score)


def test_the_mean_of_a_report_is_that_of_the_scores_shown() -> None:
    assert totals((case(0.0, 1.0, 1.0, further=2), graded("b", "pass"))).score == 1.0


ONE = Usage(calls=1)


def trial_of(verdict: Any, score: float, answer: str = "", **facts: Any) -> Graded:
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
    "one trial is itself": ([trial_of("pass", 1, "a")], "a", "why"),
    "the middle": (
        [trial_of("pass", 0.9, "a"), trial_of("pass", 1, "b"), trial_of("pass", 0.8, "c")],
        "a",
        "why",
    ),
    "the lower of two": (
        [trial_of("pass", 0.9, "a"), trial_of("fail", 0.4, "b")],
        "b",
        "why; trials: 1 fail, 1 pass",
    ),
    "a missed gate is below a pass": (
        [trial_of("fail", 0.95, "gate"), trial_of("pass", 0.8, "b"), trial_of("pass", 0.9, "c")],
        "b",
        "why; trials: 1 fail, 2 pass",
    ),
    "a trial without verdict is reported": (
        [trial_of("pass", 1, "a"), errored("429"), trial_of("pass", 0.9, "b")],
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
    found = settled(trial_of("pass", 1), errored("x"), trial_of("fail", 0.2), trial_of("pass", 0.8))
    assert found.trials == (
        Trial(verdict="pass", score=1, answer=""),
        Trial(verdict="fail", score=0.2, answer=""),
        Trial(verdict="pass", score=0.8, answer=""),
    )
    assert settled(trial_of("pass", 1)).trials == ()


def test_a_trial_keeps_its_verdict_without_waived_criteria() -> None:
    waived = trial_of("fail", 0.2, without_waived="pass", waived=("b", "a"))
    found = settled(waived, replace(waived, waived=("c", "a")), trial_of("fail", 0.1))
    assert found.waived == ("a", "b", "c")
    assert [each.without_waived for each in found.trials] == ["pass", "pass", None]
    assert found.trials_to_pass == 0


def marked(answer: str, mark: bool = True, **facts: Any) -> Graded:
    rubric = a_rubric(a_criterion("polite", mark=mark), score=1.0, verdict="pass")
    return trial_of("pass", 1.0, answer, evaluators=(rubric,), **facts)


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
    assert settled(*(trial_of("fail", score) for score in scores)).score == median_low(scores)


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
            [errored("429"), trial_of("pass", 1)],
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
    more: list[CaseResult] = [trial_of("pass", 1), errored("429"), trial_of("pass", 0.9)]
    result = with_more(trial_of("fail", 0.2), more)
    assert (result.verdict, result.score, result.further_trials) == ("pass", 0.9, 2)
    assert [each.score for each in result.trials] == [0.2, 1, 0.9]
    assert result.reason == "why; trials: 1 fail, 2 pass"
    assert result.usage == Usage(calls=4)


def test_lost_further_answers_take_no_verdict_away() -> None:
    result = with_more(trial_of("fail", 0.2), [errored("429"), errored("500")])
    assert (result.verdict, result.trials, result.further_trials) == ("fail", (), 0)
    assert (result.reason, result.usage) == ("why", Usage(calls=3))


@pytest.mark.parametrize(
    ("more", "expected", "reason"),
    [
        ([trial_of("fail", 0.1)], ("fail", 0.2), "its median answer; trials: 3 fail, 1 pass"),
        ([trial_of("fail", 0.25)], ("fail", 0.25), "why; trials: 3 fail, 1 pass"),
        ([trial_of("pass", 1)] * 2, ("pass", 0.9), "its median answer; trials: 2 fail, 3 pass"),
        ([trial_of("pass", 0.85)] * 2, ("pass", 0.85), "why; trials: 2 fail, 3 pass"),
    ],
    ids=["another first", "a further one", "a first with no marks", "a further one that passes"],
)
def test_the_median_of_first_and_further_answers(
    more: list[CaseResult], expected: tuple[str, float], reason: str
) -> None:
    first = settled(trial_of("fail", 0.2), trial_of("fail", 0.3), trial_of("pass", 0.9))
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
    return trial_of(verdict, {"pass": 1.0, "borderline": 0.7, "fail": 0.1}[verdict])


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
    first = settled(trial_of("pass", 1), trial_of("fail", 0.1), trial_of("fail", 0.1), rule=rule)
    result = with_more(first, [trial_of("pass", 1)])
    assert (result.verdict, result.trials_to_pass) == ("fail", 3)
