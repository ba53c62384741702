"""Publish a report in the current GitHub workflow run; the steps that can fail come last."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from rubric_ci.model.options import CommentSettings, RunSettings
from rubric_ci.model.report import RunReport
from rubric_ci.publish.outputs import write_step_outputs
from rubric_ci.render import annotations
from rubric_ci.text import escape


def publish(
    report: RunReport,
    written: Sequence[Path],
    settings: RunSettings,
    environment: Mapping[str, str],
) -> None:
    """Write outputs, summary and annotations, then post comment and check run."""
    for line in write_step_outputs(report, written, environment):
        click.echo(escape.log_line(line), err=True)
    if on_github(environment) if settings.annotations is None else settings.annotations:
        click.echo(annotations.render(report), nl=False)
    for line in _post(report, settings, environment):
        click.echo(escape.log_line(line))


def on_github(environment: Mapping[str, str]) -> bool:
    """Return True if a GitHub runner reads the output."""
    return environment.get("GITHUB_ACTIONS") == "true"


def _post(report: RunReport, settings: RunSettings, environment: Mapping[str, str]) -> list[str]:
    if settings.comment == "off" and not settings.check_run:
        return []
    from rubric_ci.publish.comment import try_to_post  # loads PyGithub

    comment = CommentSettings(
        mode=settings.comment, key=settings.comment_key, check=settings.check_run
    )
    return try_to_post(report, comment, environment)
