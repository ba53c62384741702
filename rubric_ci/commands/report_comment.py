"""`rubric-ci report comment`: post a report on its pull request, also from another workflow run."""

from collections.abc import Mapping

import click

from rubric_ci.errors import ExitCode
from rubric_ci.model.options import CommentSettings
from rubric_ci.publish.comment import post
from rubric_ci.report.report_file import read_report
from rubric_ci.text import escape


def comment(settings: CommentSettings, environment: Mapping[str, str]) -> ExitCode:
    """Post the report of a file; unlike in `run`, a failure to post is an error."""
    for line in post(read_report(settings.report), settings, environment):
        click.echo(escape.log_line(line))
    return ExitCode.OK
