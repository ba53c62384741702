"""`rubric-ci baseline`: keep a run next to the pinned reference, or accept it as the reference."""

import os
from datetime import UTC, datetime

import click

from rubric_ci.comparison.merge_decision import accept_merge
from rubric_ci.comparison.reference_folder import Acceptance, accept, keep
from rubric_ci.errors import ExitCode
from rubric_ci.model.options import AcceptSettings, KeepSettings
from rubric_ci.publish.outputs import write_lines_to_summary
from rubric_ci.publish.workflow import Workflow
from rubric_ci.render import comparison
from rubric_ci.report.report_file import read_report
from rubric_ci.text import escape


def keep_run(settings: KeepSettings) -> ExitCode:
    """Add the run to the reference's log and print what was done."""
    for line in keep(read_report(settings.report), settings.baseline):
        click.echo(escape.log_line(line))
    return ExitCode.OK


def accept_merged_run(settings: KeepSettings) -> ExitCode:
    """Move the reference for what a merge fixed or accepted; print and summarise what was done."""
    lines = [*accept_merge(read_report(settings.report), settings.baseline, _now())]
    for line in lines:
        click.echo(escape.log_line(line))
    for problem in write_lines_to_summary(lines, Workflow.of(os.environ)):
        click.echo(escape.log_line(problem), err=True)
    return ExitCode.OK


def accept_run(settings: AcceptSettings) -> ExitCode:
    """Print what is accepted, and make it the reference."""
    head = read_report(settings.report)
    acceptance = Acceptance(
        reason=settings.reason,
        cases=settings.cases,
        decided_at=_now(),
    )
    compared = accept(head, settings.baseline, acceptance)
    if compared:
        click.echo(comparison.text(compared), nl=False)
    measured = escape.log_line(f"{settings.report} of {head.started_at}")
    click.echo(f"accepted: {measured} ({escape.log_line(settings.reason)})")
    return ExitCode.OK


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
