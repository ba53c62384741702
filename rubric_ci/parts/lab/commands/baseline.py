"""`rubric-ci baseline`: keep a run in the log of the reference, or accept it as the reference."""

from datetime import UTC, datetime

import click

from rubric_ci.errors import ExitCode
from rubric_ci.gate.report.report_file import read_report
from rubric_ci.parts.lab.reference_folder import Acceptance, accept, keep
from rubric_ci.reports.render import comparison_section
from rubric_ci.text.escape import log_line
from rubric_ci.values.command_settings import AcceptSettings, KeepSettings


def keep_run(settings: KeepSettings) -> ExitCode:
    """Add the run to the reference's log and print what was done."""
    for line in keep(read_report(settings.report), settings.baseline):
        click.echo(log_line(line))
    return ExitCode.OK


def accept_run(settings: AcceptSettings) -> ExitCode:
    """Print the accepted failures, and make the run the reference."""
    head = read_report(settings.report)
    acceptance = Acceptance(
        reason=settings.reason,
        cases=settings.cases,
        decided_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    compared = accept(head, settings.baseline, acceptance)
    if compared:
        click.echo(comparison_section.text(compared), nl=False)
    measured = log_line(f"{settings.report} of {head.started_at}")
    click.echo(f"accepted: {measured} ({log_line(settings.reason)})")
    return ExitCode.OK
