"""Grade the cases, write what was found, and say whether the gate holds."""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from time import monotonic

import click

from rubric_ci import __version__
from rubric_ci.commands import workflow_run
from rubric_ci.commands.asking import build_ask, build_memory, caps_of
from rubric_ci.commands.baseline import open_baseline, with_baseline
from rubric_ci.commands.choosing import choose_target
from rubric_ci.commands.forecast import forecast, show_forecast, total
from rubric_ci.commands.interrupting import until_stopped
from rubric_ci.commands.judges import choose_judge, judge_info, judges_of
from rubric_ci.commands.opening import Opened, show_problems
from rubric_ci.commands.progress import progress
from rubric_ci.commands.selecting.changes import open_selected
from rubric_ci.commands.tasks import build_tasks
from rubric_ci.commands.vouching import vouch
from rubric_ci.commands.writing import check_folder, write_and_show
from rubric_ci.engine import Task, grade
from rubric_ci.errors import ExitCode
from rubric_ci.model.config import FailOn, MockTarget
from rubric_ci.model.evals import EvalCase
from rubric_ci.model.report import (
    GateInfo,
    JudgeInfo,
    RunReport,
    ShardInfo,
    gate_holds,
    run_verdict,
    totals,
)
from rubric_ci.model.results import CaseResult, Errored, Skipped
from rubric_ci.model.settings import RunSettings
from rubric_ci.model.tools import Tools
from rubric_ci.render import escape
from rubric_ci.selection.cases import Selection
from rubric_ci.sharding import piece, split

INTERRUPTED = "interrupted before it ended"


def run(settings: RunSettings) -> ExitCode:
    """Open, grade, write, show; the exit code comes from the verdict only."""
    started_at, clock = datetime.now(UTC), monotonic()
    opened, selection = open_selected(settings)
    show_problems(opened.diagnostics)
    baseline = open_baseline(settings)
    shard, chosen = _own_part(selection, opened, settings)
    tasks = build_tasks(chosen, opened, settings)
    doubts = _doubts(tasks, opened)
    selection = replace(selection, notes=(*doubts, *selection.notes))
    tools = build_tools(opened, settings)
    check_folder(settings)
    live = not (settings.replay or settings.offline)
    batched = settings.batch and live
    expected = forecast(tasks, settings.trials, batched=batched) if live else ()
    show_forecast(expected)
    # NOTE: a runner may give a terminal; a bar before a workflow command would hide the command.
    with progress(len(tasks), plain=workflow_run.on_github(os.environ) or None) as advance:
        grading = grade(
            tasks,
            tools,
            concurrency=settings.concurrency,
            on_result=advance,
            trials=settings.trials,
            batched=batched,
        )
        ended = asyncio.run(until_stopped(grading))
    cases = _with_the_interrupted(tasks, ended)
    if settings.require_rubrics:
        cases = tuple(_required(case) for case in cases)
    report = build_report(
        opened,
        cases,
        settings,
        selection=selection,
        shard=shard,
        interrupted=len(ended) < len(tasks),
        started_at=started_at.isoformat(timespec="seconds"),
        duration_seconds=round(monotonic() - clock, 3),
    )
    report = replace(report, forecast=total(expected))
    report = with_baseline(report, baseline, settings)
    written = write_and_show(report, settings)
    workflow_run.tell(report, written, settings, os.environ)
    return exit_code(report, opened)


def exit_code(report: RunReport, opened: Opened) -> ExitCode:
    """Say what the caller needs to know first: a proven fail, then what kept others from a verdict.

    The gate never holds over eval files that could not be read.
    """
    if not gate_holds(report.cases, FailOn(report.gate.fail_on)):
        return ExitCode.GATE
    if opened.invalid:
        return ExitCode.USAGE
    return ExitCode.NO_VERDICT if report.totals.errored or report.interrupted else ExitCode.OK


def build_tools(opened: Opened, settings: RunSettings) -> Tools:
    """Hand the labour what it may use of the world."""
    return Tools(
        ask=build_ask(
            record_to=settings.record,
            replay_from=settings.replay,
            concurrency=settings.concurrency,
            caps=caps_of(settings),
            offline=settings.offline,
            batch=_tell if settings.batch else None,
        ),
        memory=build_memory(settings),
        root=opened.root,
        environment=os.environ,
        judge=opened.config.judge,
        thresholds=opened.config.gate.thresholds,
    )


def _tell(line: str) -> None:
    click.echo(escape.log_line(line), err=True)


def build_report(
    opened: Opened,
    cases: tuple[CaseResult, ...],
    settings: RunSettings,
    *,
    selection: Selection,
    shard: ShardInfo | None,
    interrupted: bool,
    started_at: str,
    duration_seconds: float,
) -> RunReport:
    """Put the one value together that every output renders."""
    fail_on = settings.fail_on or opened.config.gate.fail_on
    thresholds = opened.config.gate.thresholds
    verdict = run_verdict(cases, complete=not opened.invalid and not interrupted)
    return RunReport(
        tool=f"rubric-ci {__version__}",
        started_at=started_at,
        duration_seconds=duration_seconds,
        verdict=verdict,
        interrupted=interrupted,
        gate=GateInfo(
            fail_on=fail_on.value,
            passing=thresholds.passing,
            borderline=thresholds.borderline,
            holds=gate_holds(cases, fail_on) and verdict != "error",
        ),
        judge=_judge_info(opened, settings),
        totals=totals(cases),
        cases=cases,
        spared=selection.spared,
        notes=(*_notes(opened), *selection.notes),
        metadata=workflow_run.facts(os.environ),
        shard=shard,
    )


def _own_part(
    selection: Selection, opened: Opened, settings: RunSettings
) -> tuple[ShardInfo | None, Sequence[tuple[EvalCase, str]]]:
    """Return the cases of this shard, or all of them."""
    if settings.shard is None:
        return None, selection.chosen
    index, count = settings.shard
    pieces = [
        piece(case, choose_target(case, opened.config, settings.target))
        for case, _ in selection.chosen
    ]
    positions = split(pieces, count)[index - 1]
    shard = ShardInfo(index=index, count=count, positions=positions)
    return shard, [selection.chosen[position] for position in positions]


def _with_the_interrupted(
    tasks: Sequence[Task], ended: Sequence[CaseResult]
) -> tuple[CaseResult, ...]:
    """Give every task a result, in the order of the tasks: those that did not end are errored."""
    by_case = {(result.file, result.id): result for result in ended}
    return tuple(
        by_case.get((task.case.file, task.case.id))
        or Errored(
            file=task.case.file,
            line=task.case.span.line,
            id=task.case.id,
            reason=INTERRUPTED,
            why=task.why,
            target=task.target.name,
        )
        for task in tasks
    )


def _required(case: CaseResult) -> CaseResult:
    """Make a skipped case an errored one."""
    match case:
        case Skipped(file=file, line=line, id=name, reason=reason, why=why):
            return Errored(file=file, line=line, id=name, reason=reason, why=why)
        case _:
            return case


def _judge_info(opened: Opened, settings: RunSettings) -> JudgeInfo | None:
    judge = choose_judge(opened.config, MockTarget(name="", response=""), settings.judge)
    if judge is None:
        return None
    return judge_info(replace(judge, votes=settings.votes) if settings.votes else judge)


def _doubts(tasks: Sequence[Task], opened: Opened) -> Sequence[str]:
    """Ask before anything is spent whether the judges may hold this gate."""
    asked = (judge for task in tasks for judge, _ in judges_of(task.case, task.judge))
    return vouch(opened, tuple(dict.fromkeys(judge_info(judge) for judge in asked)))


def _notes(opened: Opened) -> tuple[str, ...]:
    return tuple(
        f"{name} was not graded: it has problems that `rubric-ci validate {name}` shows"
        for name in opened.invalid
    )
