"""`rubric-ci comment`: post a report on its pull request, also where another run graded it."""

from collections.abc import Mapping

import click

from rubric_ci.errors import ExitCode
from rubric_ci.model.options import CommentSettings
from rubric_ci.project import discovery
from rubric_ci.reports import json_format
from rubric_ci.reports.post import post
from rubric_ci.text import escape


def comment(settings: CommentSettings, environment: Mapping[str, str]) -> ExitCode:
    """Post the report of a file; what cannot be posted is an error here."""
    report = json_format.read(discovery.read_text(settings.report), settings.report.as_posix())
    for line in post(report, settings, environment):
        click.echo(escape.log_line(line))
    return ExitCode.OK
