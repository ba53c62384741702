"""The median of several trials."""

from typing import Any

import pytest

from rubric_ci.grading.trials import median_trial, with_further_trials
from rubric_ci.model.llm_calls import Usage
from rubric_ci.model.results import CaseResult, Errored, Graded, Skipped, Trial

ONE = Usage(calls=1)


def graded(verdict: Any, score: float, answer: str = "") -> Graded:
    return Graded(
        file="a",
        line=1,
        id="x",
        verdict=verdict,
        score=score,
        reason="why",
        answer=answer,
        usage=ONE,
    )


def errored(reason: str) -> Errored:
    return Errored(file="a", line=1, id="x", reason=reason, usage=ONE)


@pytest.mark.parametrize(
    ("results", "answer", "reason"),
    [
        pytest.param([graded("pass", 1, "a")], "a", "why", id="one-trial-is-itself"),
        pytest.param(
            [graded("pass", 0.9, "a"), graded("pass", 1, "b"), graded("pass", 0.8, "c")],
            "a",
            "why",
            id="the-middle",
        ),
        pytest.param(
            [graded("pass", 0.9, "a"), graded("fail", 0.4, "b")],
            "b",
            "why; trials: 1 fail, 1 pass",
            id="the-lower-of-two",
        ),
        pytest.param(
            [graded("fail", 0.95, "gate"), graded("pass", 0.8, "b"), graded("pass", 0.9, "c")],
            "b",
            "why; trials: 1 fail, 2 pass",
            id="a-missed-gate-is-below-a-pass",
        ),
        pytest.param(
            [graded("pass", 1, "a"), errored("429"), graded("pass", 0.9, "b")],
            "b",
            "why; no verdict in 1 of 3 trials: 429",
            id="a-trial-without-verdict-is-told",
        ),
    ],
)
def test_graded(results: list[CaseResult], answer: str, reason: str) -> None:
    settled = median_trial(results)
    assert isinstance(settled, Graded)
    assert (settled.answer, settled.reason) == (answer, reason)
    assert settled.usage == Usage(calls=len(results))


def test_every_trial_is_kept_in_order() -> None:
    settled = median_trial(
        [graded("pass", 1), errored("x"), graded("fail", 0.2), graded("pass", 0.8)]
    )
    assert isinstance(settled, Graded)
    assert settled.trials == (
        Trial(verdict="pass", score=1),
        Trial(verdict="fail", score=0.2),
        Trial(verdict="pass", score=0.8),
    )
    single = median_trial([graded("pass", 1)])
    assert isinstance(single, Graded)
    assert single.trials == ()


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
    settled = median_trial(results)
    assert isinstance(settled, Errored)
    assert (settled.reason, settled.usage) == (reason, Usage(calls=len(results)))


def test_skipped() -> None:
    skipped = Skipped(file="a", line=1, id="x", reason="nothing")
    assert median_trial([skipped, skipped]) is skipped


def test_further_trials_are_part_of_the_median() -> None:
    result = with_further_trials([graded("fail", 0.2)], [graded("pass", 1), graded("pass", 0.9)])
    assert isinstance(result, Graded)
    assert (result.verdict, result.score, result.further_trials) == ("pass", 0.9, 2)
    assert result.reason == "why; trials: 1 fail, 2 pass"
    assert result.usage == Usage(calls=3)


def test_lost_further_trials_take_no_verdict_away() -> None:
    result = with_further_trials([graded("fail", 0.2)], [errored("429"), errored("500")])
    assert isinstance(result, Graded)
    assert (result.verdict, result.trials, result.further_trials) == ("fail", (), 0)
    assert result.reason == "why; no verdict in 2 of 2 further trials: 500"
    assert result.usage == Usage(calls=3)
