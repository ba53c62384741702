"""The workflow run of GitHub Actions around a command, and what stops a run, shown in it."""

from collections.abc import Iterable, Mapping
from dataclasses import field
from secrets import token_hex
from typing import Final, Self

import click

from rubric_ci.errors import CannotWriteFile, UserError
from rubric_ci.github.actions import Event, add_summary, read_event, set_outputs
from rubric_ci.model.dataclass import dataclass
from rubric_ci.model.diagnostics import Diagnostic, Severity
from rubric_ci.model.options import CommentSettings, RunSettings
from rubric_ci.system.runner import in_workflow
from rubric_ci.text import escape
from rubric_ci.text.error_text import error_line
from rubric_ci.text.workflow_commands import PER_LEVEL, command, disable_workflow_commands

TITLE: Final = "## ⚠️ rubric-ci · Gate undecided: the run could not start"
STALE: Final = "> [!WARNING]\n> A verdict that was shown here before is out of date."


@dataclass(frozen=True, slots=True, kw_only=True)
class Workflow:
    """A step of a workflow run."""

    environment: Mapping[str, str] = field(repr=False)
    annotations: bool = True  # False: `RUBRIC_CI_ANNOTATIONS=false`

    @classmethod
    def of(cls, environment: Mapping[str, str], annotations: bool | None = None) -> Self | None:
        """Return the workflow run that a command is part of; None outside of GitHub Actions."""
        if not in_workflow(environment):
            return None
        return cls(environment=environment, annotations=annotations is not False)

    @property
    def event(self) -> Event | None:
        """The event that started the run; raises CannotReadFile if it cannot be read."""
        return read_event(self.environment)

    def annotate(self, commands: str) -> None:
        """Print workflow commands, one a line, unless there are to be no annotations."""
        if self.annotations:
            click.echo(commands, nl=False)

    def guarded(self, text: str) -> str:
        """Return a text of others between markers, so that it gives no commands to the runner."""
        return disable_workflow_commands(text, token_hex(16))

    def add_summary(self, markdown: str) -> None:
        """Append to the step's summary; raises CannotWriteFile."""
        if file := self.environment.get("GITHUB_STEP_SUMMARY"):
            add_summary(file, markdown)

    def set_outputs(self, values: Mapping[str, str]) -> None:
        """Set outputs of the step; raises CannotWriteFile."""
        if file := self.environment.get("GITHUB_OUTPUT"):
            set_outputs(file, values)


def annotate_problems(found: Iterable[Diagnostic], workflow: Workflow | None) -> None:
    """Print an annotation per error of an eval file."""
    annotate((each for each in found if each.severity is Severity.ERROR), workflow)


def annotate(found: Iterable[Diagnostic], workflow: Workflow | None) -> None:
    """Print an annotation per diagnostic of one severity, up to GitHub's limit per step."""
    if workflow is None:
        return
    for each in list(found)[:PER_LEVEL]:
        place: Mapping[str, str | int] = {
            "file": each.file,
            "line": each.span.line,
            "title": each.rule,
        }
        workflow.annotate(f"{command(each.severity.value, each.message, place)}\n")


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
