"""The command `compare`."""

from typing import Any

import click

from rubric_ci.cli import report_options
from rubric_ci.cli.command import FILE, command, examples


@command(epilog=examples("compare main.json .rubric-ci/report.json"))
@click.argument("baseline", type=FILE)
@click.argument("head", type=FILE)
@report_options.reporting(
    "--format",
    type=click.Choice(["text", "markdown", "json"]),
    default="text",
    help="Output format.",
)
@report_options.github(
    "--issue",
    default="",
    metavar="TITLE",
    help="In a workflow: keep one issue with this title open while the comparison fails. A failure "
    "to post does not change the exit code.",
)
def compare(**options: Any) -> None:
    """Compare two reports and list significant regressions.

    BASELINE and HEAD are report.json files; BASELINE may be a folder of reports, which are pooled.
    Exits with 1 on a regression, with 3 if a case lost its
    verdict.
    """
    from rubric_ci.commands.compare import compare_reports
    from rubric_ci.model.options import CompareSettings

    raise SystemExit(compare_reports(CompareSettings(**options)))
