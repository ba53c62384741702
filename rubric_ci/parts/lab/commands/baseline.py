"""`rubric-ci baseline`: keep or accept a run as the reference, or judge its answers again."""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import click

from rubric_ci.errors import CannotReadReport, ExitCode, UserError
from rubric_ci.files.project.loaded_project import LoadedProject, load_project, show_problems
from rubric_ci.gate.comparison.baseline_files import read_baseline
from rubric_ci.gate.comparison.reference import part
from rubric_ci.gate.comparison.reference_folder import Acceptance, accept, keep, replace_reports
from rubric_ci.gate.policy.checkout import allowed_hosts, open_project, show_policy
from rubric_ci.gate.report.redaction import without_secrets
from rubric_ci.gate.report.report_file import check_ours, read_report
from rubric_ci.grading.resolve import Task, judge_info
from rubric_ci.grading.setup import build_context
from rubric_ci.grading.tasks import build_tasks
from rubric_ci.parts.lab.calibration.rejudge_report import Rejudged, expected, rejudge_cases
from rubric_ci.reports.render import comparison_section
from rubric_ci.services.cost.estimate import announce_work, show_spent
from rubric_ci.services.publish.copies import copies_in
from rubric_ci.services.publish.failure import end
from rubric_ci.system import masking
from rubric_ci.text import escape, numbers
from rubric_ci.text.escape import log_line
from rubric_ci.values.command_settings import (
    AcceptSettings,
    KeepSettings,
    RejudgeSettings,
    RunSettings,
)
from rubric_ci.values.media import COPIES
from rubric_ci.values.option_values import OUTPUT_DIR
from rubric_ci.values.report import RunReport


def keep_run(settings: KeepSettings) -> ExitCode:
    """Add the run to the reference's log and print what was done."""
    for line in keep(read_report(settings.report), settings.baseline):
        click.echo(escape.log_line(line))
    return ExitCode.OK


def accept_run(settings: AcceptSettings) -> ExitCode:
    """Print the accepted failures, and make the run the reference."""
    head = read_report(settings.report)
    acceptance = Acceptance(
        reason=settings.reason,
        cases=settings.cases,
        decided_at=_now(),
    )
    compared = accept(head, settings.baseline, acceptance)
    if compared:
        click.echo(comparison_section.text(compared), nl=False)
    measured = escape.log_line(f"{settings.report} of {head.started_at}")
    click.echo(f"accepted: {measured} ({escape.log_line(settings.reason)})")
    return ExitCode.OK


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def rejudge_report(settings: RejudgeSettings) -> ExitCode:
    """Mark every kept answer, write the report again, and print what was left out."""
    present = read_baseline(settings.report).report
    check_ours(present, settings.report)
    opened = load_project((), open_project(settings.config, settings.policy_from))
    show_policy(opened)
    show_problems(opened.diagnostics)
    opened.check_valid()
    tasks = _tasks(opened, settings)
    rejudged = _ask(present, tasks, opened, settings)
    report = _with_marks(present, rejudged, tasks)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    replace_reports(settings.report, without_secrets(report, masking.redactor()), now)
    for line in rejudged.left_out:
        click.echo(log_line(line), err=True)
    judge = log_line(report.judge.model) if report.judge else "no judge"
    click.echo(f"{len(rejudged.cases):,} cases marked by {judge}: {log_line(str(settings.report))}")
    if rejudged.left_out:
        count = numbers.plural(len(rejudged.left_out), "answer")
        why = UserError(f"{count} could not be marked: {rejudged.left_out[0]}", "run it again")
        return end(ExitCode.NO_VERDICT, why, "baseline rejudge", os.environ)
    return ExitCode.OK


def _tasks(opened: LoadedProject, settings: RejudgeSettings) -> Sequence[Task]:
    run = RunSettings(judge=settings.judge, requests=settings.requests)
    chosen = [(case, "") for file in opened.files for case in file.cases]
    return build_tasks(chosen, opened, run)


def _ask(
    present: RunReport, tasks: Sequence[Task], opened: LoadedProject, settings: RejudgeSettings
) -> Rejudged:
    hosts = allowed_hosts(opened, settings.requests.allowed_hosts, os.environ)
    context = build_context(opened.root, opened.config, settings.requests, os.environ, hosts=hosts)
    read = copies_in(settings.report.parent / COPIES, Path(OUTPUT_DIR) / COPIES)
    if settings.requests.replay is None:
        announce_work(expected(present.cases, tasks, context, read))
    asking = rejudge_cases(present.cases, tasks, context, settings.requests.concurrency, read)
    rejudged = asyncio.run(asking)
    show_spent(context.spent())
    return rejudged


def _with_marks(present: RunReport, rejudged: Rejudged, tasks: Sequence[Task]) -> RunReport:
    if not rejudged.cases:
        first = next(iter(rejudged.left_out), "it has no graded case")
        raise CannotReadReport(
            f"no case of the report could be marked: {first}",
            "keep a new reference: run `rubric-ci run --trials 15` and `rubric-ci baseline accept`",
        )
    judges = [judge_info(task.judge) for task in tasks if task.judge]
    judge = judges[0] if judges else present.judge
    report = replace(
        present, cases=rejudged.cases, sentinel=rejudged.sentinel, judge=judge, notes=()
    )
    return part(report, lambda _: True) or report
