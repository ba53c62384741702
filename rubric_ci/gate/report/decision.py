"""The gate of a report: its settings, the counts of its pass rates, and whether it passes."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from rubric_ci.errors import ExitCode
from rubric_ci.gate.report.matrix import difference
from rubric_ci.values.changes import GradingChange
from rubric_ci.values.comparison import Comparison, GateState
from rubric_ci.values.gate import (
    GateInfo,
    PassRate,
    gate_passes,
    gating,
    is_better,
    is_changed,
    is_forbidden,
    is_together_open,
    is_weakened,
    lacks_difference,
    pass_rates,
    too_many_waivers,
)
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import CaseResult, Errored, Skipped
from rubric_ci.values.scope import Scope
from rubric_ci.values.waivers import WaiverResult

if TYPE_CHECKING:  # a report is checked without the types of the configuration
    from rubric_ci.values.gate import FailOn, GateConfig


def gate_of(config: "GateConfig", fail_on: "FailOn | None") -> GateInfo:
    """Return the settings without counts; `fail_on` of the command line comes first."""
    rates = [PassRate(min_pass_rate=rate, group=tag) for tag, rate in config.groups.items()]
    if config.min_pass_rate is not None:
        rates = [PassRate(min_pass_rate=config.min_pass_rate), *rates]
    own = {"fail_on", "thresholds", "min_pass_rate", "groups"}
    shown = {field.name for field in fields(GateInfo)} - own
    return GateInfo(
        fail_on=fail_on or config.fail_on,
        passing=config.thresholds.passing,
        borderline=config.thresholds.borderline,
        rates=tuple(rates),
        holds=False,
        **{each.name: getattr(config, each.name) for each in fields(config) if each.name in shown},
    )


def settings_of(gate: GateInfo) -> GateInfo:
    """Return the settings alone, which the shards of one run share."""
    rates = (PassRate(min_pass_rate=rate.min_pass_rate, group=rate.group) for rate in gate.rates)
    return replace(gate, rates=tuple(rates), difference=None, holds=False)


def concluded(
    gate: GateInfo,
    cases: Sequence[CaseResult],
    scope: Scope,
    waivers: Sequence[WaiverResult] = (),
    changes: Sequence[GradingChange] = (),
    comparison: Comparison | None = None,
) -> GateInfo:
    """Return the gate with the counts of these cases, and whether it passes."""
    counted = replace(
        gate,
        rates=pass_rates(gating(cases, gate), gate.rates, changes),
        difference=difference(cases, gate.better_than, whole=scope.complete),
    )
    undecided = lacks_verdict(cases, counted, scope) or _is_open(cases, counted, comparison)
    holds = gate_passes(cases, counted, waivers, changes, comparison)
    return replace(counted, holds=holds and not undecided)


def lacks_verdict(cases: Sequence[CaseResult], gate: GateInfo, scope: Scope) -> bool:
    """Return True if the run ended early, or a case that the gate is about has no verdict."""
    refused = any(isinstance(case, Skipped) and case.lacks_verdict for case in cases)
    return scope.unread or scope.unfinished or refused or any(errored(cases, gate))


def errored(cases: Sequence[CaseResult], gate: GateInfo) -> Sequence[Errored]:
    """Return the cases without a verdict that the gate is about."""
    return [case for case in gating(cases, gate) if isinstance(case, Errored)]


def with_gate(report: RunReport) -> RunReport:
    """Return a report with its gate decided again."""
    gate = concluded(
        report.gate,
        report.cases,
        report.scope,
        report.waivers,
        report.grading_changes,
        report.comparison,
    )
    return replace(report, gate=gate)


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
    undecided = lacks_verdict(report.cases, report.gate, report.scope)
    undecided = undecided or _is_open(report.cases, report.gate, report.comparison)
    return ExitCode.NO_VERDICT if undecided else ExitCode.OK


def _is_open(cases: Sequence[CaseResult], gate: GateInfo, comparison: Comparison | None) -> bool:
    """Return True if a verdict that the gate needs is missing, though each case has one."""
    return is_together_open(gate, comparison) or lacks_difference(cases, gate)


Rule: TypeAlias = Literal[
    "broke", "new", "together", "verdict", "target", "rate", "waivers", "weaker", "changed"
]
"""Which rule fails the gate: a case that broke, one that is new or not comparable and fails, all
cases together, a verdict that `fail_on` forbids, a target that is not better, a pass rate, too many
waivers, or a change of the grading that is not allowed."""


def rules(report: RunReport) -> tuple[Rule, ...]:
    """Return the rules that fail the gate, the one that decides first."""
    gate, compared = report.gate, report.comparison
    held = [case for case in report.cases if is_forbidden(case, gate)]
    regression = gate.fail_on == "regression"
    absolute = gate.fail_on != "never"
    every: dict[Rule, bool] = {
        "broke": regression and any(case.change == "broken" for case in held),
        "together": regression and compared is not None and compared.fell,
        "new": regression and any(case.change in {"new", "not-comparable"} for case in held),
        "verdict": any(not regression or case.change is None for case in held),
        "target": not is_better(gate),
        "rate": absolute and not all(rate.holds for rate in gate.rates),
        "waivers": absolute and too_many_waivers(gate, report.waivers),
        "weaker": is_weakened(gate, report.grading_changes),
        "changed": is_changed(gate, report.grading_changes),
    }
    return tuple(name for name, fails in every.items() if fails)


def gate_state(report: RunReport) -> GateState:
    """Return whether the gate passes; a run that lacks verdicts and fails no gate has neither."""
    if report.gate.holds:  # decided once, with a look at every case
        return "pass"
    states: Mapping[ExitCode, GateState] = {ExitCode.OK: "pass", ExitCode.GATE: "fail"}
    return states.get(exit_code(report), "no-verdict")
