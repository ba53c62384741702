"""Commands about reports that exist: comparing two, showing one on a pull request."""

import os
from pathlib import Path
from typing import Any, Final

import click

from rubric_ci.cli import options
from rubric_ci.cli.options import command


@command(epilog=options.examples("compare main.json .rubric-ci/report.json"))
@click.argument("baseline", type=click.Path(path_type=Path))
@click.argument("head", type=click.Path(path_type=Path))
@click.option(
    "--tolerance",
    type=click.FloatRange(0, 1),
    default=0.05,
    help="A score may fall so far before that is a regression.",
)
@click.option(
    "--format",
    type=click.Choice(["text", "markdown", "json"]),
    default="text",
    help="For people, for a comment or an issue, for programs.",
)
@click.option(
    "--issue",
    default="",
    metavar="TITLE",
    help="In a workflow: keep one issue of this title open while it is red, best effort.",
)
def compare(**options: Any) -> None:
    """Tell what got worse from one report to another, beyond noise.

    BASELINE and HEAD are report.json files. Exits with 1 on a regression, with 3 where a case has
    no verdict any more.
    """
    from rubric_ci.commands.compare import compare_reports
    from rubric_ci.model.options import CompareSettings

    raise SystemExit(compare_reports(CompareSettings(**options)))


@command()
@click.argument("report", type=click.Path(path_type=Path), default=Path(".rubric-ci/report.json"))
@click.option(
    "--mode",
    type=click.Choice(["update", "new", "on-failure", "off"]),
    default="update",
    help="Keep one comment, add one, or begin one only when the gate fails.",
)
@click.option(
    "--key", metavar="KEY", default="default", help="Tells several comments of ours apart."
)
@click.option("--check-run", "check", default="", metavar="NAME", help="Write a check run as well.")
@click.option(
    "--repository", metavar="OWNER/NAME", default="", help="Where, outside of a workflow."
)
@click.option(
    "--pull-request",
    type=click.IntRange(min=1),
    metavar="NUMBER",
    help="Which, outside of its events.",
)
def comment(**options: Any) -> None:
    """Show a report on its pull request.

    REPORT is the report.json of a run; GITHUB_TOKEN must be set.
    """
    from rubric_ci.commands.comment import comment as post
    from rubric_ci.model.options import CommentSettings

    raise SystemExit(post(CommentSettings(**options), os.environ))


COMMANDS: Final = (compare, comment)
