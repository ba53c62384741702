"""The commands of `rubric-ci report`: `merge` and `comment`."""

import os
from pathlib import Path
from typing import Any

import click

from rubric_ci.cli import options, report_options
from rubric_ci.cli.command import FILE, LINES, Group, option
from rubric_ci.model import defaults


@click.group(cls=Group)
def report() -> None:
    """Merge the reports of shards, and post a report on its pull request."""


@report.command()
@click.argument("parts", nargs=-1, required=True, type=LINES)
@options.fail_on("as the shards")
@options.baseline
@report_options.outputs
@report_options.posting
def merge(parts: tuple[str, ...], **options: Any) -> None:
    """Merge the reports of shards into one.

    PARTS are their report.json files, or folders that contain such files.
    """
    from rubric_ci.commands.report_merge import merge_reports
    from rubric_ci.model.options import RunSettings

    raise SystemExit(merge_reports([Path(part) for part in parts], RunSettings(**options)))


@report.command()
@click.argument("report", type=FILE, default=defaults.REPORT)
@option(
    "--mode",
    type=click.Choice(["update", "new", "on-failure", "off"]),
    default="update",
    help="Update one comment, add a new one, or create one only when the gate fails.",
)
@option(
    "--key",
    variable="RUBRIC_CI_COMMENT_KEY",
    metavar="KEY",
    default="default",
    help="Identifies this comment when a pull request has several.",
)
@option(
    "--check-run",
    "check",
    variable="RUBRIC_CI_CHECK_RUN",
    default="",
    metavar="NAME",
    help="Also create a check run with this name.",
)
@option(
    "--repository",
    metavar="OWNER/NAME",
    default="",
    help="Repository to comment on; default: the current workflow's.",
)
@option(
    "--pull-request",
    type=click.IntRange(min=1),
    metavar="NUMBER",
    help="Pull request number; default: from the event.",
)
def comment(**options: Any) -> None:
    """Post a report as a comment on its pull request.

    REPORT is the report.json of a run; GITHUB_TOKEN must be set.
    """
    from rubric_ci.commands.report_comment import comment as post
    from rubric_ci.model.options import CommentSettings

    raise SystemExit(post(CommentSettings(**options), os.environ))
