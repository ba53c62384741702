"""The commands of `rubric-ci baseline`."""

from typing import Any

import click

from rubric_ci.cli import options, request_options
from rubric_ci.cli.command import FILE, Group, examples, option
from rubric_ci.model import defaults


@click.group(cls=Group)
def baseline() -> None:
    """Manage the reference that nightly runs are compared with."""


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
    """Move the reference for cases that a merge changed.

    REPORT is the report.json of a run over all cases with `--against`. A case moves if it is fixed
    and better than its reference, or if a waiver excuses it and it is worse.
    """
    from rubric_ci.commands.baseline import accept_merged_run
    from rubric_ci.model.options import KeepSettings

    raise SystemExit(accept_merged_run(KeepSettings(**options)))


@baseline.command()
@click.argument("report", type=FILE, default=defaults.REFERENCE)
@options.config
@options.policy_from
@options.judge
@request_options.requests
def rejudge(**options: Any) -> None:
    """Judge the stored answers of a reference again.

    REPORT is a report.json, or the folder of a reference, and is written again. No target is asked
    for an answer, and no judgement is taken from the cache.
    """
    from rubric_ci.commands.baseline_rejudge import rejudge_report
    from rubric_ci.model.options import RejudgeSettings

    raise SystemExit(rejudge_report(RejudgeSettings(**options)))
