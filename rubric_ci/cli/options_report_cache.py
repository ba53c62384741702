"""The commands `report` and `cache` with their options."""

import os
from pathlib import Path
from typing import Any

import click

from rubric_ci.cli import options
from rubric_ci.cli.click_types import FILE, LINES, Count, Group, Number, command, option, workflow
from rubric_ci.values import formats_and_defaults


@click.group(cls=Group)
def report() -> None:
    """Merge the reports of shards, and post a report on its pull request."""


@report.command()
@click.argument("parts", nargs=-1, required=True, type=LINES)
@options.fail_on("as the shards")
@options.baseline
@options.outputs
@options.posting
def merge(parts: tuple[str, ...], **options: Any) -> None:
    """Merge the reports of shards into one.

    PARTS are their report.json files, or folders that contain such files.
    """
    from rubric_ci.cli.commands.report_show_compare import merge_reports
    from rubric_ci.values.command_settings import ReportOptions, settings_of

    settings = settings_of(ReportOptions, options)
    raise SystemExit(merge_reports([Path(part) for part in parts], settings))


@report.command()
@click.argument("report", type=FILE, default=formats_and_defaults.REPORT)
@option(
    "--mode",
    type=click.Choice(["update", "on-failure", "off"]),
    default="update",
    help="Update one comment, or create it only when the gate fails.",
)
@options.comment_key
@option(
    "--check-run",
    "check",
    heading="Check run and page",
    variable="RUBRIC_CI_CHECK_RUN",
    default="",
    metavar="NAME",
    help="Also create a check run with this name.",
)
@option(
    "--page",
    heading="Check run and page",
    variable="RUBRIC_CI_PAGE",
    default="",
    metavar="ARTIFACT",
    help="Name of the run's artifact with report.html; the comment links it.",
)
@option(
    "--repository",
    heading="Place",
    metavar="OWNER/NAME",
    default="",
    help="Repository to comment on; default: the current workflow's.",
)
@option(
    "--pull-request",
    heading="Place",
    type=Count(min=1),
    metavar="NUMBER",
    help="Pull request number; default: from the event.",
)
@option(
    "--sha",
    heading="Place",
    metavar="SHA",
    default="",
    help="Commit of the check run and of links to files; default: from the event.",
)
@option(
    "--failure",
    metavar="REASON",
    default="",
    help="Post in place of a report why the run could not start: its output `failure`.",
)
def comment(**options: Any) -> None:
    """Post a report as a comment on its pull request.

    REPORT is the report.json of a run; GITHUB_TOKEN must be set.
    """
    from rubric_ci.cli.commands.report_show_compare import comment as post
    from rubric_ci.values.command_settings import CommentSettings

    raise SystemExit(post(CommentSettings(**options), os.environ))


@command()
@workflow(
    "--cache-dir",
    "folder",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    default=formats_and_defaults.CACHE_DIR,
    help="Folder of the cache.",
)
@option(
    "--unused-days",
    type=Number(min=0),
    metavar="DAYS",
    help="Delete entries unused for this many days.",
)
@option("--clear", is_flag=True, help="Delete all entries.")
def cache(**options: Any) -> None:
    """Show the size of the cache and prune it.

    RUBRIC_CI_CACHE_DIR names another folder, which several checkouts or machines can share.
    """
    from rubric_ci.cli.commands.cache import cache as prune_and_show
    from rubric_ci.values.command_settings import CacheSettings

    raise SystemExit(prune_and_show(CacheSettings(**options)))
