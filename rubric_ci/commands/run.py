"""Grade the cases, write what was found, and say whether the gate holds."""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from time import monotonic

import click

from rubric_ci.calibration.gate import check_calibration
from rubric_ci.errors import ExitCode
from rubric_ci.grading.cost_estimate import CostEstimate, estimate_cost, show_estimate, total
from rubric_ci.grading.engine import Task, grade
from rubric_ci.grading.resolve import choose_target, judge_info, judges_of
from rubric_ci.grading.setup import build_cache, build_model_caller, caps_of, uses_cache, why_unread
from rubric_ci.grading.tasks import build_tasks
from rubric_ci.model.config import FailOn
from rubric_ci.model.context import RunContext
from rubric_ci.model.evals import EvalCase
from rubric_ci.model.options import RunSettings
from rubric_ci.model.report import RunReport, ShardInfo, gate_holds
from rubric_ci.model.results import CaseResult
from rubric_ci.project.loaded_project import LoadedProject, show_problems
from rubric_ci.reports import publish
from rubric_ci.reports.build import build_report
from rubric_ci.reports.files import check_folder, open_baseline, with_baseline, write_and_show
from rubric_ci.reports.progress import progress
from rubric_ci.reports.sharding import case_cost, split
from rubric_ci.selection.changed_cases import open_selected
from rubric_ci.selection.compare_cases import Selection
from rubric_ci.system.signals import run_until_terminated
from rubric_ci.text import escape


def run(settings: RunSettings) -> ExitCode:
    """Open, grade, write, show; the exit code comes from the verdict only."""
    started_at, clock = datetime.now(UTC), monotonic()
    opened, selection = open_selected(settings)
    show_problems(opened.diagnostics)
    baseline = open_baseline(settings)
    shard, chosen = _own_part(selection, opened, settings)
    tasks = build_tasks(chosen, opened, settings)
    unread = why_unread(settings.cache_dir, os.environ) if uses_cache(settings) else ""
    settings = replace(settings, cache=False) if unread else settings
    notes = (*([unread] if unread else []), *_doubts(tasks, opened), *selection.notes)
    selection = replace(selection, notes=notes)
    context = build_context(opened, settings)
    check_folder(settings)
    expected = _foretold(tasks, settings)
    show_estimate(expected)
    ended = _grade(tasks, context, settings)
    report = build_report(
        opened,
        tasks,
        ended,
        settings,
        selection=selection,
        shard=shard,
        started_at=started_at,
        seconds=monotonic() - clock,
    )
    report = with_baseline(replace(report, forecast=total(expected)), baseline, settings)
    written = write_and_show(report, settings)
    publish.publish(report, written, settings, os.environ)
    return exit_code(report, opened)


def exit_code(report: RunReport, opened: LoadedProject) -> ExitCode:
    """Say what the caller needs to know first: a proven fail, then what kept others from a verdict.

    The gate never holds over eval files that could not be read.
    """
    if not gate_holds(report.cases, FailOn(report.gate.fail_on)):
        return ExitCode.GATE
    if opened.invalid:
        return ExitCode.USAGE
    return ExitCode.NO_VERDICT if report.totals.errored or report.interrupted else ExitCode.OK


def build_context(opened: LoadedProject, settings: RunSettings) -> RunContext:
    """Hand the labour what it may use of the world."""
    return RunContext(
        call_model=build_model_caller(
            record_to=settings.record,
            replay_from=settings.replay,
            concurrency=settings.concurrency,
            caps=caps_of(settings),
            offline=settings.offline,
            batch=_tell if settings.batch else None,
        ),
        cache=build_cache(settings),
        root=opened.root,
        environment=os.environ,
        judge=opened.config.judge,
        thresholds=opened.config.gate.thresholds,
    )


def _tell(line: str) -> None:
    click.echo(escape.log_line(line), err=True)


def _foretold(tasks: Sequence[Task], settings: RunSettings) -> Sequence[CostEstimate]:
    if _answers_alone(settings):
        return ()
    return estimate_cost(tasks, settings.trials, batched=settings.batch)


def _grade(
    tasks: Sequence[Task], context: RunContext, settings: RunSettings
) -> tuple[CaseResult, ...]:
    """Grade under a line of progress for each case, until all have ended or somebody stops it."""
    # NOTE: a runner may give a terminal; a bar before a workflow command would hide the command.
    with progress(len(tasks), plain=publish.on_github(os.environ) or None) as advance:
        grading = grade(
            tasks,
            context,
            concurrency=settings.concurrency,
            on_result=advance,
            trials=settings.trials,
            batched=settings.batch and not _answers_alone(settings),
        )
        return asyncio.run(run_until_terminated(grading))


def _answers_alone(settings: RunSettings) -> bool:
    """Tell whether no model is asked: everything is recorded, or left out."""
    return bool(settings.replay) or settings.offline


def _own_part(
    selection: Selection, opened: LoadedProject, settings: RunSettings
) -> tuple[ShardInfo | None, Sequence[tuple[EvalCase, str]]]:
    """Return the cases of this shard, or all of them."""
    if settings.shard is None:
        return None, selection.chosen
    index, count = settings.shard
    pieces = [
        case_cost(case, choose_target(case, opened.config_for(case.file), settings.target))
        for case, _ in selection.chosen
    ]
    positions = split(pieces, count)[index - 1]
    shard = ShardInfo(index=index, count=count, positions=positions)
    return shard, [selection.chosen[position] for position in positions]


def _doubts(tasks: Sequence[Task], opened: LoadedProject) -> Sequence[str]:
    """Ask before anything is spent whether the judges may hold this gate."""
    asked = (judge for task in tasks for judge, _ in judges_of(task.case, task.judge))
    return check_calibration(opened, tuple(dict.fromkeys(judge_info(judge) for judge in asked)))
