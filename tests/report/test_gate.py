"""The gate of a report, and reports that claim another."""

from dataclasses import replace

import pytest

from rubric_ci.errors import ExitCode
from rubric_ci.model.config import FailOn, GateConfig
from rubric_ci.model.gate import PassRate
from rubric_ci.model.report import RunReport
from rubric_ci.model.results import Trial
from rubric_ci.render import wording
from rubric_ci.report import consistency
from rubric_ci.report.exit_code import exit_code
from rubric_ci.report.gate import concluded, gate_of
from tests.sample_reports import a_report, errored, graded

CONFIG = GateConfig(min_pass_rate=0.5, groups={"safety": 1.0})


def gated(report: RunReport, config: GateConfig = CONFIG) -> RunReport:
    gate = concluded(gate_of(config, None), report.cases, report.verdict)
    return replace(report, gate=gate)


TOLERATED = gated(a_report(graded("a", "pass", tags=("safety",)), graded("b"), errored("c")))
MISSED = gated(a_report(graded("a", "pass"), graded("b", tags=("safety",))))
UNDECIDED = gated(
    a_report(graded("a", change="not-comparable")), GateConfig(fail_on=FailOn.REGRESSION)
)


@pytest.mark.parametrize(
    ("report", "text", "code"),
    [
        (
            TOLERATED,
            (
                "fail-on: fail; all cases: 1 of 2 pass, 1 needed for 0.5, 1 "
                "errored not counted; tag safety: 1 of 1 pass, 1 needed for 1.0"
            ),
            ExitCode.NO_VERDICT,
        ),
        (
            MISSED,
            (
                "fail-on: fail; all cases: 1 of 2 pass, 1 needed for 0.5; "
                "tag safety: 0 of 1 pass, 1 needed for 1.0"
            ),
            ExitCode.GATE,
        ),
        (UNDECIDED, "fail-on: regression", ExitCode.NO_VERDICT),
    ],
    ids=["tolerated", "missed", "undecided"],
)
def test_the_gate_in_words(report: RunReport, text: str, code: ExitCode) -> None:
    assert wording.gate_settings(report) == text
    assert exit_code(report) is code
    assert list(consistency.problems(report)) == []


def test_fail_on_of_the_command_line_comes_first() -> None:
    assert gate_of(GateConfig(fail_on=FailOn.NEVER), FailOn.BORDERLINE).fail_on == "borderline"


TRIALS = (Trial(verdict="pass", score=1.0), Trial(verdict="fail", score=0.0))


@pytest.mark.parametrize(
    ("report", "problem"),
    [
        (
            replace(
                MISSED,
                gate=replace(
                    MISSED.gate,
                    rates=(MISSED.gate.rates[0], replace(MISSED.gate.rates[1], passed=1)),
                ),
            ),
            "gate.rates: group safety: 1 of 1, 1 required; its cases give 0 of 1, 1 required",
        ),
        (
            replace(MISSED, gate=replace(MISSED.gate, holds=True)),
            "gate.holds is true, its cases give false",
        ),
        (
            replace(UNDECIDED, gate=replace(UNDECIDED.gate, holds=True)),
            "gate.holds is true, its cases give false",
        ),
        (
            a_report(graded("a", "pass", trials=TRIALS, trials_to_pass=2)),
            "cases.0.verdict is pass, 2 trials must pass: fail",
        ),
    ],
    ids=["counts of a rate", "holds", "undecided", "trials"],
)
def test_a_report_that_claims_another_gate(report: RunReport, problem: str) -> None:
    assert problem in list(consistency.problems(report))


def test_new_cases_that_are_not_counted_in_words() -> None:
    rate = PassRate(min_pass_rate=0.9, passed=18, counted=21, required=19, new=20)
    assert wording.rate_text(rate) == (
        "all cases: 18 of 21 pass, 19 needed for 0.9, 20 new not counted before the merge"
    )
