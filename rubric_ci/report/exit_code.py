"""The exit code that a report means."""

from rubric_ci.errors import ExitCode
from rubric_ci.model.gate import gate_passes, is_undecided
from rubric_ci.model.report import RunReport


def exit_code(report: RunReport, *, invalid_files: bool = False) -> ExitCode:
    """Return the exit code: failed gate, then unusable eval files, then missing verdicts.

    A report does not list its unusable eval files, so `run` passes `invalid_files`.
    """
    if not gate_passes(report.cases, report.gate, report.waivers, report.grading_changes):
        return ExitCode.GATE
    if invalid_files:
        return ExitCode.USAGE
    incomplete = report.verdict == "error" or report.scope.unfinished or report.totals.errored
    undecided = any(is_undecided(case, report.gate) for case in report.cases)
    return ExitCode.NO_VERDICT if incomplete or undecided else ExitCode.OK
