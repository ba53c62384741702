"""Publish a report in the current GitHub workflow run; the steps that can fail come last."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from rubric_ci.model.options import CommentSettings, RunSettings
from rubric_ci.model.report import RunReport
from rubric_ci.publish.outputs import write_step_outputs
from rubric_ci.publish.workflow import Workflow
from rubric_ci.render import annotations
from rubric_ci.text import escape


def publish(
    report: RunReport,
    written: Sequence[Path],
    settings: RunSettings,
    environment: Mapping[str, str],
) -> None:
    """Write outputs, summary and annotations, then post comment and check run."""
    workflow = Workflow.of(environment, settings.annotations)
    for line in write_step_outputs(report, written, workflow):
        click.echo(escape.log_line(line), err=True)
    if workflow:
        workflow.annotate(annotations.render(report))
    elif settings.annotations:  # asked for by name
        click.echo(annotations.render(report), nl=False)
    for line in _post(report, settings, environment):
        click.echo(escape.log_line(line))


def _post(report: RunReport, settings: RunSettings, environment: Mapping[str, str]) -> list[str]:
    if settings.comment == "off" and not settings.check_run:
        return []
    from rubric_ci.publish.comment import try_to_post  # loads PyGithub

    comment = CommentSettings(
        mode=settings.comment, key=settings.comment_key, check=settings.check_run
    )
    return try_to_post(report, comment, environment)
