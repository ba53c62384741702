"""Contradictions inside a report: every score at its limits, the trials, the totals."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rubric_ci.gate.report import consistency
from rubric_ci.gate.report.decision import concluded
from rubric_ci.values.gate import GateInfo, PassRate
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import BaseResult, CaseResult, Graded, Skipped, Trial, Unassessed
from rubric_ci.values.scope import Scope
from rubric_ci.values.trials import CriterionNoise
from rubric_ci.values.usage import Usage
from rubric_ci.values.waivers import WaiverResult
from tests.gate.waivers.test_waiver_report import a_waiver
from tests.sample_reports import a_criterion, a_report, a_rubric, errored, graded

GOOD: Graded = graded("x", "pass")
RUBRIC = a_rubric(score=1.0, verdict="pass")


def a_trial(score: float) -> Trial:
    return Trial(verdict="pass", score=score)


def before(**facts: Any) -> BaseResult:
    return BaseResult(outcome="graded", **facts)


SCORES: dict[str, Callable[[float], CaseResult]] = {
    "of a case": lambda n: replace(GOOD, score=n),
    "of a trial": lambda n: replace(GOOD, trials=(a_trial(1.0), a_trial(n))),
    "of an evaluator": lambda n: replace(GOOD, evaluators=(replace(RUBRIC, score=n),)),
    "of an errored case's evaluator": lambda n: errored(
        "x", evaluators=(replace(RUBRIC, score=n),)
    ),
    "of the base": lambda n: replace(GOOD, before=before(score=n)),
    "of an errored case's base": lambda n: errored("x", before=before(score=n)),
    "of a trial of the base": lambda n: replace(GOOD, before=before(trials=(a_trial(n),))),
    "of an evaluator of the base": lambda n: replace(
        GOOD, before=before(evaluators=(replace(RUBRIC, score=n),))
    ),
}


@pytest.mark.parametrize("place", ["of the run", *SCORES])
@pytest.mark.parametrize("score", [-0.01, 0.0, 0.5, 1.0, 1.01, 7.0])
def test_a_score_out_of_range(place: str, score: float) -> None:
    whole = a_report(GOOD)
    if place == "of the run":
        report = replace(whole, totals=replace(whole.totals, score=score))
    else:
        report = a_report(SCORES[place](score), totals=whole.totals)
    found = [each for each in consistency.problems(report) if "is not between" in each]
    assert bool(found) is not (0 <= score <= 1)
    assert set(found) <= {f"score {score:g} is not between 0 and 1"}


def of_trials(*verdicts: Any, says: Any, rank: int = 0, further: int = 0) -> CaseResult:
    trials = tuple(
        Trial(verdict=word, score={"pass": 1.0, "borderline": 0.7, "fail": 0.0}[word])
        for word in verdicts
    )
    return replace(graded("x", says), trials=trials, trials_to_pass=rank, further_trials=further)


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
    "a further trial of two": (of_trials("pass", "pass", says="pass", further=1), []),
    "no rule": (GOOD, []),
    "skipped": (Skipped(file="e.yaml", line=3, id="x", reason="r"), []),
}


@pytest.mark.parametrize(("case", "expected"), TRIALS.values(), ids=TRIALS)
def test_the_rule_of_k_trials(case: CaseResult, expected: list[str]) -> None:
    assert list(consistency.problems(a_report(case))) == expected


def limited(case: CaseResult, passing: float = 0.8, borderline: float = 0.6) -> RunReport:
    """Return a report that never fails, with these thresholds."""
    gate = GateInfo(fail_on="never", passing=passing, borderline=borderline, holds=True)
    return a_report(case, gate=gate)


BARE = replace(GOOD, evaluators=())
WRONG = replace(RUBRIC, verdict="fail")
LINT = Unassessed(name="lint", type="code_judge", weight=0.0, line=9, reason="r")

VERDICTS: dict[str, tuple[RunReport, list[str]]] = {
    "above the threshold": (limited(replace(BARE, score=0.85)), []),
    "below a stricter threshold": (
        limited(replace(BARE, score=0.85), passing=0.9),
        ["cases.0.verdict is pass, its score and gates give borderline"],
    ),
    "above a laxer threshold": (
        limited(replace(BARE, score=0.5, verdict="fail"), borderline=0.4),
        ["cases.0.verdict is fail, its score and gates give borderline"],
    ),
    "a missed gate": (
        limited(replace(BARE, gated_by=("c",))),
        ["cases.0.verdict is pass, its score and gates give fail"],
    ),
    "of an evaluator": (
        limited(replace(GOOD, evaluators=(WRONG,))),
        ["cases.0.evaluators.0.verdict is fail, its score and gates give pass"],
    ),
    "of an evaluator at the base": (
        limited(replace(GOOD, before=before(evaluators=(WRONG,)))),
        ["cases.0.before.evaluators.0.verdict is fail, its score and gates give pass"],
    ),
    "of an errored case's base": (
        limited(errored("x", before=before(evaluators=(WRONG,)))),
        ["cases.0.before.evaluators.0.verdict is fail, its score and gates give pass"],
    ),
    "an evaluator without a score": (limited(replace(GOOD, evaluators=(RUBRIC, LINT))), []),
    "an evaluator without a score at the base": (
        limited(replace(GOOD, before=before(evaluators=(RUBRIC, LINT)))),
        [],
    ),
}


@pytest.mark.parametrize(("report", "expected"), VERDICTS.values(), ids=VERDICTS)
def test_a_verdict_follows_from_score_and_gates(report: RunReport, expected: list[str]) -> None:
    found = list(consistency.problems(report))
    assert [problem for problem in found if not problem.startswith("gate.")] == expected


MISSED = graded("c", "fail", a_criterion("gated"), waived=("gated",), without_waived="pass")
NO_WAIVER = ["cases.0.waived: no waiver for gated"]
WAIVED: dict[str, tuple[Graded, list[WaiverResult], list[str]]] = {
    "excused": (MISSED, [a_waiver()], []),
    "no waiver": (MISSED, [], NO_WAIVER),
    "of another file": (MISSED, [a_waiver(file="other.yaml")], NO_WAIVER),
    "of another case": (MISSED, [a_waiver(case="d")], NO_WAIVER),
    "of another criterion": (MISSED, [a_waiver(criterion="polite")], NO_WAIVER),
    "without its effect": (
        replace(MISSED, without_waived=None),
        [a_waiver()],
        ["cases.0.without_waived is None, its criteria give pass"],
    ),
    "an effect of nothing": (
        replace(MISSED, waived=()),
        [a_waiver()],
        ["cases.0.without_waived is pass, its criteria give None"],
    ),
}


@pytest.mark.parametrize(("case", "waivers", "expected"), WAIVED.values(), ids=WAIVED)
def test_what_is_waived(case: Graded, waivers: list[WaiverResult], expected: list[str]) -> None:
    report = a_report(case, waivers=tuple(waivers))
    gate = concluded(report.gate, report.cases, report.scope, waivers)
    assert list(consistency.problems(replace(report, gate=gate))) == expected


def rated(group: str = "", passed: int = 1, **facts: Any) -> RunReport:
    case = replace(GOOD, tags=("safety",))
    rate = PassRate(min_pass_rate=0.5, group=group, passed=passed, counted=1, required=1)
    gate = {"fail_on": "fail", "passing": 0.8, "borderline": 0.6, "holds": True, **facts}
    return a_report(case, gate=GateInfo(rates=(rate,), **gate))


GATES: dict[str, tuple[RunReport, list[str]]] = {
    "as counted": (rated(), []),
    "a rate of all cases": (
        rated(passed=7),
        ["gate.rates: all cases: 7 of 1, 1 required; its cases give 1 of 1, 1 required"],
    ),
    "a rate of a group": (
        rated("safety", passed=0),
        ["gate.rates: group safety: 0 of 1, 1 required; its cases give 1 of 1, 1 required"],
    ),
    "red but green": (rated(holds=False), ["gate.holds is false, its cases give true"]),
    "green but red": (
        a_report(graded("x"), gate=replace(a_report(GOOD).gate, holds=True)),
        ["gate.holds is true, its cases give false"],
    ),
}


@pytest.mark.parametrize(("report", "expected"), GATES.values(), ids=GATES)
def test_the_gate(report: RunReport, expected: list[str]) -> None:
    assert list(consistency.problems(report)) == expected


TOTALS: dict[str, tuple[float, dict[str, Any], list[str]]] = {
    "rounded": (0.0, {"cost_usd": 5e-7}, []),
    "rounded, of a large sum": (1000.0, {"cost_usd": 1000.0005}, []),
    "another": (1000.0, {"cost_usd": 1000.1}, ["totals.cost_usd is 1000.1, its cases give 1000.0"]),
    "a rounded score": (0.0, {"score": 1.0 - 1e-7}, []),
    "another score": (0.0, {"score": 0.9999}, ["totals.score is 0.9999, its cases give 1.0"]),
    "no score": (0.0, {"score": None}, ["totals.score is null, its cases give 1.0"]),
    "20 digits are shown": (
        0.0,
        {"passed": 10**19},
        ["totals.passed is 10000000000000000000, its cases give 1"],
    ),
    "21 digits are cut": (
        0.0,
        {"passed": 10**20},
        ["totals.passed is 1000000000000000000…, its cases give 1"],
    ),
}


@pytest.mark.parametrize(("cost", "claimed", "expected"), TOTALS.values(), ids=TOTALS)
def test_totals(cost: float, claimed: dict[str, Any], expected: list[str]) -> None:
    report = a_report(replace(GOOD, usage=Usage(calls=1, cost_usd=cost)))
    forged = replace(report, totals=replace(report.totals, **claimed))
    assert list(consistency.problems(forged)) == expected


def noisy(*answers: str | None) -> RunReport:
    """A report with trials that were marked True and False in turn; None: no answer is kept."""
    trials = tuple(
        replace(a_trial(1.0), answer=answer, marks=(n % 2 == 0,))
        for n, answer in enumerate(answers)
    )
    polite = a_criterion("polite", mark=True, normalised=1.0, gated=False)
    rubric = a_rubric(polite, score=1.0, verdict="pass")
    return a_report(replace(GOOD, evaluators=(rubric,), trials=trials))


NOISE: dict[str, tuple[RunReport, tuple[int, int] | None, list[str]]] = {
    "as the marks say": (noisy("a", "a", "b"), (1, 1), []),
    "less than the marks say": (noisy("a", "a", "b"), (0, 1), ["0 of 1", "1 of 1"]),
    "more than the marks say": (noisy("a", "a", "b"), (2, 2), ["2 of 2", "1 of 1"]),
    "none": (noisy("a", "a", "b"), None, ["0 of 0", "1 of 1"]),
    "of nothing": (noisy("a", "b"), (0, 1), ["0 of 1", "0 of 0"]),
    "with answers left out": (noisy(None, None, "b"), (1, 1), []),
    "with answers left out, none": (noisy(None, None, "b"), None, []),
    "with answers left out, an answer too many": (noisy(None, "b"), (0, 2), ["0 of 2", "0 of 0"]),
    "with answers left out, more than all": (noisy(None, "b"), (2, 1), ["2 of 1", "0 of 0"]),
    "with answers left out, less than the rest": (
        noisy(None, "b", "b"),
        None,
        ["0 of 0", "1 of 1"],
    ),
}


@pytest.mark.parametrize(("report", "claimed", "expected"), NOISE.values(), ids=NOISE)
def test_judge_noise(
    report: RunReport, claimed: tuple[int, int] | None, expected: list[str]
) -> None:
    noise = (
        ()
        if claimed is None
        else (
            CriterionNoise(
                file=GOOD.file, id="polite", text="asked", differing=claimed[0], repeated=claimed[1]
            ),
        )
    )
    forged = replace(report, totals=replace(report.totals, judge_noise=noise))
    about = "totals.judge_noise: polite: {} answers differ, its cases give {}"
    assert list(consistency.problems(forged)) == ([about.format(*expected)] if expected else [])


def test_judge_noise_of_a_criterion_that_no_case_has() -> None:
    report = noisy("a", "b")
    noise = CriterionNoise(file=GOOD.file, id="gone", text="asked", differing=0, repeated=1)
    forged = replace(report, totals=replace(report.totals, judge_noise=(noise,)))
    assert list(consistency.problems(forged)) == [
        "totals.judge_noise: gone: 0 of 1 answers differ, its cases give 0 of 0"
    ]


SAME_ID = replace(GOOD, file="other.yaml")
SAME_FILE = graded("y", "pass")
PARTS: dict[str, tuple[Scope, list[str]]] = {
    "the suite": (Scope(suite=3), []),
    "a part of it": (Scope(suite=9).narrowed("tag", "case"), []),
    "a replay": (Scope().narrowed("replay"), []),
    "in another order": (
        Scope(complete=False, narrowed_by=("tag", "case")),
        ["scope.narrowed_by is tag, case, in order: case, tag"],
    ),
    "complete, though narrowed": (
        Scope(narrowed_by=("case", "tag")),
        ["scope.complete is true, narrowed by: case, tag"],
    ),
    "a part, for no reason": (
        Scope(complete=False),
        ["scope.complete is false, narrowed by: nothing"],
    ),
    "more cases than the suite": (Scope(suite=2), ["scope.suite is 2, the report has 3 cases"]),
}


@pytest.mark.parametrize(("scope", "expected"), PARTS.values(), ids=PARTS)
def test_the_part_of_the_suite(scope: Scope, expected: list[str]) -> None:
    report = a_report(GOOD, SAME_ID, SAME_FILE, scope=scope)
    assert list(consistency.problems(report)) == expected


def test_an_interrupted_run_has_no_verdict_of_its_cases() -> None:
    report = a_report(GOOD, scope=Scope().narrowed("interrupted"))
    assert list(consistency.problems(report)) == [
        "verdict is pass, its cases give error",
        "gate.holds is true, its cases give false",
    ]


@pytest.mark.parametrize("further", [-1, 1, 10**9])
def test_impossible_counts_of_trials_are_said_alone(further: int) -> None:
    report = replace(a_report(GOOD), cases=(of_trials("pass", says="pass", further=further),))
    assert list(consistency.problems(report)) == [
        f"cases.0.further_trials is {further} of 1 trials"
    ]
