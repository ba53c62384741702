"""The gate of a report: its settings, the counts of its pass rates, and whether it passes."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from rubric_ci.errors import ExitCode
from rubric_ci.gate.report.matrix import difference
from rubric_ci.gate.report.reasons import Facts, verdict_code
from rubric_ci.values.changes import GradingChange
from rubric_ci.values.comparison import Comparison, GateState
from rubric_ci.values.gate import (
    GateInfo,
    MinScore,
    PassRate,
    as_written,
    gating,
    min_scores,
    pass_rates,
)
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import CaseResult
from rubric_ci.values.scope import Scope
from rubric_ci.values.waivers import WaiverResult

if TYPE_CHECKING:  # a report is checked without the types of the configuration
    from rubric_ci.values.gate import FailOn, GateConfig


def gate_of(config: "GateConfig", fail_on: "FailOn | None") -> GateInfo:
    """Return the settings without counts; `fail_on` of the command line comes first."""
    rates = [PassRate(min_pass_rate=rate, group=tag) for tag, rate in config.rates.items()]
    if config.min_pass_rate is not None:
        rates = [PassRate(min_pass_rate=config.min_pass_rate), *rates]
    least = {tag: of.min_score for tag, of in config.groups.items()}
    scores = [MinScore(min_score=of, group=tag) for tag, of in least.items() if of is not None]
    own = {"fail_on", "thresholds", "min_pass_rate", "groups"}
    shown = {field.name for field in fields(GateInfo)} - own
    return GateInfo(
        fail_on=fail_on or config.fail_on,
        passing=config.thresholds.passing,
        borderline=config.thresholds.borderline,
        rates=tuple(rates),
        scores=tuple(scores),
        holds=False,
        **{each.name: getattr(config, each.name) for each in fields(config) if each.name in shown},
    )


def settings_of(gate: GateInfo) -> GateInfo:
    """Return the settings alone, which the shards of one run share."""
    rates = (
        PassRate(min_pass_rate=each.min_pass_rate, group=each.group)
        for each in as_written(gate.rates)
    )
    scores = (
        MinScore(min_score=each.min_score, group=each.group) for each in as_written(gate.scores)
    )
    return replace(gate, rates=tuple(rates), scores=tuple(scores), difference=None, holds=False)


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
        scores=min_scores(gating(cases, gate), gate.scores),
        difference=difference(cases, gate.better_than, whole=scope.complete),
    )
    code = verdict_code(Facts(cases, counted, scope, waivers, changes, comparison))
    return replace(counted, holds=code is ExitCode.OK)


def with_gate(report: RunReport) -> RunReport:
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
    code = verdict_code(report)
    return ExitCode.USAGE if invalid_files and code is not ExitCode.GATE else code


def gate_state(report: RunReport) -> GateState:
    """Return whether the gate passes; a run that lacks verdicts and fails no gate has neither."""
    if report.gate.holds:  # decided once, with a look at every case
        return "pass"
    states: Mapping[ExitCode, GateState] = {ExitCode.OK: "pass", ExitCode.GATE: "fail"}
    return states.get(exit_code(report), "no-verdict")
