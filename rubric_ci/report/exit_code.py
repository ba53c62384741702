"""The exit code that a report means."""

from collections.abc import Mapping

from rubric_ci.errors import ExitCode
from rubric_ci.model.gate import gate_passes, is_undecided
from rubric_ci.model.reference_log import GateState
from rubric_ci.model.report import RunReport


def exit_code(report: RunReport, *, invalid_files: bool = False) -> ExitCode:
    """Return the exit code: failed gate, then unusable eval files, then missing verdicts.

    A report does not list its unusable eval files, so `run` passes `invalid_files`.
    """
    if not gate_passes(
        report.cases, report.gate, report.waivers, report.grading_changes, report.comparison
    ):
        return ExitCode.GATE
    if invalid_files:
        return ExitCode.USAGE
    incomplete = report.verdict == "error" or report.scope.unfinished or report.totals.errored
    undecided = any(is_undecided(case, report.gate) for case in report.cases)
    return ExitCode.NO_VERDICT if incomplete or undecided else ExitCode.OK


def gate_state(report: RunReport) -> GateState:
    """Return whether the gate passes; a run that lacks verdicts and fails no gate has neither."""
    states: Mapping[ExitCode, GateState] = {ExitCode.OK: "pass", ExitCode.GATE: "fail"}
    return states.get(exit_code(report), "no-verdict")
