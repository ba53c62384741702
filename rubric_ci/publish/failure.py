"""What stops a run before it has a verdict, on the pull request: annotation, summary, comment."""

from collections.abc import Iterable, Mapping
from typing import Final

import click

from rubric_ci.errors import CannotWriteFile, UserError
from rubric_ci.model.diagnostics import Diagnostic, Severity
from rubric_ci.model.options import CommentSettings, RunSettings
from rubric_ci.publish.workflow import Workflow
from rubric_ci.text import escape
from rubric_ci.text.error_text import error_line
from rubric_ci.text.workflow_commands import PER_LEVEL, command

TITLE: Final = "## ⚠️ rubric-ci · Gate undecided: the run could not start"
STALE: Final = "> [!WARNING]\n> A verdict that was shown here before is out of date."


def annotate_problems(found: Iterable[Diagnostic], workflow: Workflow | None) -> None:
    """Print an annotation per error of an eval file, up to GitHub's limit per step."""
    if workflow is None:
        return
    errors = [each for each in found if each.severity is Severity.ERROR]
    for each in errors[:PER_LEVEL]:
        place: Mapping[str, str | int] = {
            "file": each.file,
            "line": each.span.line,
            "title": each.rule,
        }
        workflow.annotate(f"{command('error', each.message, place)}\n")


def publish_failure(error: UserError, settings: RunSettings, workflow: Workflow | None) -> None:
    """Show an error of the setup in the workflow run and on its pull request."""
    if workflow is None:
        return
    title = {"title": "rubric-ci"}
    workflow.annotate(f"{command('error', error_line(error), title)}\n")
    body = failure_text(error)
    try:
        workflow.add_summary(body)
    except CannotWriteFile as failed:
        click.echo(escape.log_line(f"not written: {failed.message}"), err=True)
    if settings.comment != "off":
        from rubric_ci.publish.comment import try_to_post_failure  # loads PyGithub

        comment = CommentSettings(mode=settings.comment, key=settings.comment_key)
        for line in try_to_post_failure(body, comment, workflow.environment):
            click.echo(escape.log_line(line))


def failure_text(error: UserError) -> str:
    """Return the error as Markdown; it replaces the report of an earlier push."""
    parts = [TITLE, STALE, escape.prose(error.message), escape.prose(error.hint)]
    return "\n\n".join(part for part in parts if part)
