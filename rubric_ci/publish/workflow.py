"""The workflow run of GitHub Actions around a command: what may be told to it, and how."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Self

import click

from rubric_ci.github.actions import Event, add_summary, read_event, set_outputs
from rubric_ci.system.runner import in_workflow
from rubric_ci.text.workflow_commands import disable_workflow_commands


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
