"""Contradictions inside a report: every score at its limits, the trials, the totals."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rubric_ci.model.report import CaseChange, Comparison, RunReport
from rubric_ci.model.results import BaseResult, CaseResult, Graded, Skipped, Trial
from rubric_ci.reports import consistency
from tests.sample_reports import a_report, a_rubric, errored, graded

GOOD: Graded = graded("x", "pass")
RUBRIC = a_rubric(score=1.0, verdict="pass")


def a_trial(score: float) -> Trial:
    return Trial(verdict="pass", score=score)


def before(**facts: Any) -> BaseResult:
    return BaseResult(outcome="graded", **facts)


def compared(**sides: Any) -> RunReport:
    change = CaseChange(kind="same", file="e.yaml", id="x", **sides)
    return a_report(GOOD, comparison=Comparison(changes=(change,), tolerance=0.1, paired=1))


SCORES: dict[str, Callable[[float], RunReport]] = {
    "of the run": lambda n: a_report(GOOD, totals=replace(a_report(GOOD).totals, score=n)),
    "of a case": lambda n: a_report(replace(GOOD, score=n), totals=a_report(GOOD).totals),
    "of a trial": lambda n: a_report(replace(GOOD, trials=(a_trial(1.0), a_trial(n)))),
    "of an evaluator": lambda n: a_report(replace(GOOD, evaluators=(replace(RUBRIC, score=n),))),
    "of an errored case's evaluator": lambda n: a_report(
        errored("x", evaluators=(replace(RUBRIC, score=n),))
    ),
    "of the base": lambda n: a_report(replace(GOOD, before=before(score=n))),
    "of an errored case's base": lambda n: a_report(errored("x", before=before(score=n))),
    "of a trial of the base": lambda n: a_report(
        replace(GOOD, before=before(trials=(a_trial(n),)))
    ),
    "of an evaluator of the base": lambda n: a_report(
        replace(GOOD, before=before(evaluators=(replace(RUBRIC, score=n),)))
    ),
    "of the baseline": lambda n: compared(before=a_trial(n)),
    "of this run in the comparison": lambda n: compared(after=a_trial(n)),
}


@pytest.mark.parametrize("place", SCORES)
@pytest.mark.parametrize("score", [-0.01, 1.01, 7.0])
def test_a_score_out_of_range(place: str, score: float) -> None:
    found = list(consistency.problems(SCORES[place](score)))
    assert f"score {score:g} is not between 0 and 1" in found


@pytest.mark.parametrize("place", SCORES)
@pytest.mark.parametrize("score", [0.0, 0.5, 1.0])
def test_a_score_in_range(place: str, score: float) -> None:
    found = list(consistency.problems(SCORES[place](score)))
    assert not [problem for problem in found if "is not between" in problem]


def of_trials(*verdicts: Any, says: Any, rank: int) -> CaseResult:
    trials = tuple(
        Trial(verdict=word, score={"pass": 1.0, "borderline": 0.7, "fail": 0.0}[word])
        for word in verdicts
    )
    return replace(graded("x", says), trials=trials, trials_to_pass=rank)


TRIALS: dict[str, tuple[CaseResult, list[str]]] = {
    "two of three": (of_trials("pass", "fail", "pass", says="pass", rank=2), []),
    "one of three": (
        of_trials("pass", "fail", "fail", says="pass", rank=2),
        ["cases.0.verdict is pass, 2 trials must pass: fail"],
    ),
    "better than claimed": (
        of_trials("pass", "borderline", says="fail", rank=2),
        ["cases.0.verdict is fail, 2 trials must pass: borderline"],
    ),
    "a negative rule": (
        of_trials("pass", says="pass", rank=-1),
        ["cases.0.trials_to_pass is -1 of 1 trials"],
    ),
    "a rule without trials": (
        replace(GOOD, trials_to_pass=1),
        ["cases.0.trials_to_pass is 1 of 0 trials"],
    ),
    "no rule": (GOOD, []),
    "skipped": (Skipped(file="e.yaml", line=3, id="x", reason="r"), []),
}


@pytest.mark.parametrize(("case", "expected"), TRIALS.values(), ids=TRIALS)
def test_the_rule_of_k_trials(case: CaseResult, expected: list[str]) -> None:
    assert list(consistency.problems(a_report(case))) == expected


CLOSE = {"equal": (1.0, True), "rounded": (1.0 - 1e-7, True), "other": (1.0 - 1e-4, False)}


@pytest.mark.parametrize(("claimed", "same"), CLOSE.values(), ids=CLOSE)
def test_totals_may_differ_by_rounding(claimed: float, *, same: bool) -> None:
    report = a_report(GOOD)
    found = list(
        consistency.problems(replace(report, totals=replace(report.totals, score=claimed)))
    )
    assert found == ([] if same else [f"totals.score is {claimed}, its cases give 1.0"])


def test_an_interrupted_run_has_no_verdict_of_its_cases() -> None:
    report = a_report(GOOD, interrupted=True)
    assert list(consistency.problems(report)) == ["verdict is pass, its cases give error"]
