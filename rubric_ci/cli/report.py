"""The commands about existing reports: `compare`, `comment` and `baseline`."""

import os
from typing import Any, Final

import click

from rubric_ci.cli import options, report_options
from rubric_ci.cli.command import FILE, Group, command, examples, option
from rubric_ci.model import defaults


@command(epilog=examples("compare main.json .rubric-ci/report.json"))
@click.argument("baseline", type=FILE)
@click.argument("head", type=FILE)
@options.tolerance
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


@command()
@click.argument("report", type=FILE, default=defaults.REPORT)
@option(
    "--mode",
    type=click.Choice(["update", "new", "on-failure", "off"]),
    default="update",
    help="Update one comment, add a new one, or create one only when the gate fails.",
)
@option(
    "--key",
    metavar="KEY",
    default="default",
    help="Identifies this comment when a pull request has several.",
)
@option(
    "--check-run",
    "check",
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
    from rubric_ci.commands.comment import comment as post
    from rubric_ci.model.options import CommentSettings

    raise SystemExit(post(CommentSettings(**options), os.environ))


@click.group(cls=Group)
def baseline() -> None:
    """Keep and move the pinned reference of nightly runs."""


_report = click.argument("report", type=FILE, default=defaults.REPORT)
_folder = option(
    "--baseline",
    type=FILE,
    metavar="FOLDER",
    default=defaults.REFERENCE,
    help="Folder of the reference.",
)


@baseline.command()
@_report
@_folder
def keep(**options: Any) -> None:
    """Add a run to the log of the reference.

    REPORT is the report.json of a run over all cases. The first run becomes the reference; later
    ones add trials only to cases that have fewer than `regression.reference_trials`.
    """
    from rubric_ci.commands.baseline import keep_run
    from rubric_ci.model.options import KeepSettings

    raise SystemExit(keep_run(KeepSettings(**options)))


@baseline.command(epilog=examples("baseline accept --reason 'shorter answers are wanted, #12'"))
@_report
@_folder
@option("--reason", required=True, metavar="REASON", help="Why these results are the reference.")
@options.cases
def accept(**options: Any) -> None:
    """Make the results of a run the reference.

    REPORT is the report.json of a run over all cases. The changes that are accepted are printed;
    commit, date and reason are kept in the folder, and later reports show them.
    """
    from rubric_ci.commands.baseline import accept_run
    from rubric_ci.model.options import AcceptSettings

    raise SystemExit(accept_run(AcceptSettings(**options)))


@baseline.command("accept-merge")
@_report
@_folder
def accept_merge(**options: Any) -> None:
    """Move the reference for what a merge fixed or accepted.

    REPORT is the report.json of a run over all cases with `--against`. A case moves if it is fixed
    and better than its reference, or if a waiver excuses it and it is worse.
    """
    from rubric_ci.commands.baseline import accept_merged_run
    from rubric_ci.model.options import KeepSettings

    raise SystemExit(accept_merged_run(KeepSettings(**options)))


COMMANDS: Final = (compare, comment, baseline)
