"""The exit code that a report means."""

from rubric_ci.errors import ExitCode
from rubric_ci.model.config import FailOn
from rubric_ci.model.report import RunReport, gate_holds


def exit_code(report: RunReport, *, invalid_files: bool = False) -> ExitCode:
    """Return the exit code: failed gate, then unusable eval files, then missing verdicts.

    A report does not list its unusable eval files, so `run` passes `invalid_files`.
    """
    if not gate_holds(report.cases, FailOn(report.gate.fail_on)):
        return ExitCode.GATE
    if invalid_files:
        return ExitCode.USAGE
    incomplete = report.verdict == "error" or report.interrupted or report.totals.errored
    return ExitCode.NO_VERDICT if incomplete else ExitCode.OK
