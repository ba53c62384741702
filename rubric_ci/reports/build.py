"""Build the report of a run, which every output format is generated from."""

import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from rubric_ci import __version__
from rubric_ci.grading.engine import Task
from rubric_ci.grading.resolve import choose_judge, judge_info
from rubric_ci.model.config import MockTarget
from rubric_ci.model.options import RunSettings
from rubric_ci.model.report import (
    GateInfo,
    JudgeInfo,
    RunReport,
    ShardInfo,
    gate_passes,
    run_verdict,
    totals,
)
from rubric_ci.model.results import CaseResult, Errored, Skipped
from rubric_ci.project.loaded_project import LoadedProject
from rubric_ci.reports import publish
from rubric_ci.selection.compare_cases import Selection

INTERRUPTED = "interrupted before it finished"


def build_report(
    opened: LoadedProject,
    tasks: Sequence[Task],
    ended: Sequence[CaseResult],
    settings: RunSettings,
    *,
    selection: Selection,
    shard: ShardInfo | None,
    started_at: datetime,
    seconds: float,
) -> RunReport:
    """Return the report of a run; unfinished tasks are errored cases."""
    cases = _with_interrupted(tasks, ended)
    if settings.require_rubrics:
        cases = tuple(_required(case) for case in cases)
    interrupted = len(ended) < len(tasks)
    fail_on = settings.fail_on or opened.config.gate.fail_on
    thresholds = opened.config.gate.thresholds
    verdict = run_verdict(cases, complete=not opened.invalid and not interrupted)
    return RunReport(
        tool=f"rubric-ci {__version__}",
        started_at=started_at.isoformat(timespec="seconds"),
        duration_seconds=round(seconds, 3),
        verdict=verdict,
        interrupted=interrupted,
        gate=GateInfo(
            fail_on=fail_on.value,
            passing=thresholds.passing,
            borderline=thresholds.borderline,
            holds=gate_passes(cases, fail_on) and verdict != "error",
        ),
        judge=_judge_info(opened, tasks, settings),
        totals=totals(cases),
        replayed=settings.requests.replay is not None,
        cases=cases,
        spared=selection.spared,
        notes=(*_notes(opened), *selection.notes),
        metadata=publish.run_metadata(os.environ),
        shard=shard,
        regression=opened.config.regression,
    )


def _with_interrupted(tasks: Sequence[Task], ended: Sequence[CaseResult]) -> tuple[CaseResult, ...]:
    """Return a result for every task, in the order of the tasks; unfinished ones are errored."""
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
    """Return a skipped case as an errored one."""
    match case:
        case Skipped(file=file, line=line, id=name, reason=reason, why=why):
            return Errored(file=file, line=line, id=name, reason=reason, why=why)
        case _:
            return case


def _judge_info(
    opened: LoadedProject, tasks: Sequence[Task], settings: RunSettings
) -> JudgeInfo | None:
    config = opened.config_for(tasks[0].case.file) if tasks else opened.config
    judge = choose_judge(config, MockTarget(name="", response=""), settings.judge)
    if judge is None:
        return None
    return judge_info(replace(judge, votes=settings.votes) if settings.votes else judge)


def _notes(opened: LoadedProject) -> tuple[str, ...]:
    return tuple(
        f"{name} was not graded because it has problems; run `rubric-ci validate {name}`"
        for name in opened.invalid
    )
