"""The commands `generate`, `show`, `compare` and `waive` with their options."""

from datetime import UTC, date, datetime
from functools import partial
from typing import Any

import click

from rubric_ci.cli import completion_and_hints, options
from rubric_ci.cli.click_types import FILE, Group, command, examples, option
from rubric_ci.values import formats_and_defaults

_drafts = partial(option, heading="Drafts")
_publishing = partial(option, heading="Commit and publish")


@click.group(cls=Group)
def generate() -> None:
    """Generate missing parts of eval files."""


@generate.command(
    epilog=examples(
        "generate rubrics --diff         show the changes only",
        "generate rubrics --interactive  review each draft",
    )
)
@options.paths
@options.config
@options.policy_from
@options.cases
@_drafts(
    "--target",
    metavar="NAME",
    default="",
    shell_complete=completion_and_hints.targets,
    help="Target or model that writes the drafts; default: the judge's model.",
)
@_drafts(
    "--kind",
    type=click.Choice(["checklist", "score-range", "levels", "auto"]),
    default="checklist",
    help="Kind of criteria.",
)
@_drafts(
    "--tests",
    is_flag=True,
    help="Write answers that test each criterion, for `judge test`; the judge marks them first.",
)
@_drafts("--interactive", is_flag=True, help="Accept, edit or drop each draft.")
@_drafts("--diff", is_flag=True, help="Print the changes without writing them.")
@_publishing("--commit", is_flag=True, help="Commit the changed files.")
@_publishing(
    "--fixup", default="", metavar="REV", help="Commit the changed files as a fixup of REV."
)
@_publishing(
    "--pr",
    is_flag=True,
    help="In a workflow: commit to the pull request's branch, or open a pull request.",
)
@options.requests
@options.cache
def rubrics(**options: Any) -> None:
    """Draft rubrics for cases without any, in place.

    Cases with an expected outcome get a draft. PATHS are eval files, folders or globs; default:
    `evals` of the configuration.
    """
    from rubric_ci.cli.commands.generate import generate_rubrics
    from rubric_ci.values.command_settings import GenerateSettings, settings_of

    if options["diff"] and (options["commit"] or options["fixup"] or options["pr"]):
        raise click.UsageError("--diff changes no file, so there is nothing to commit")
    if options["fixup"] and options["pr"]:
        raise click.UsageError("--fixup commits to the local branch: remove --pr or --fixup")
    raise SystemExit(generate_rubrics(settings_of(GenerateSettings, options)))


@command(
    epilog=examples(
        "show                  the last report",
        "show refund           question, answer and marks of a case",
        "show 'refund*' --criterion period",
        "show --report r.json  why a pull request is red, from the report of its run",
    )
)
@click.argument("case", default="", shell_complete=completion_and_hints.case_ids)
@option("--criterion", metavar="ID", default="", help="Only the marks of this criterion.")
@option("--format", type=click.Choice(["text", "json"]), default="text", help="Output format.")
@option(
    "--report",
    type=FILE,
    metavar="FILE",
    default=formats_and_defaults.REPORT,
    help="Report to show, instead of the last one.",
)
def show(**options: Any) -> None:
    """Print a case of the last report: question, answer and every mark.

    CASE is an id, a glob or FILE::CASE; without it, the report is printed as after the run.
    Nothing is requested.
    """
    from rubric_ci.cli.commands.report_show_compare import ShowSettings
    from rubric_ci.cli.commands.report_show_compare import show as show_cases

    raise SystemExit(show_cases(ShowSettings(**options)))


@command(epilog=examples("compare main.json .rubric-ci/report.json"))
@click.argument("baseline", type=FILE)
@click.argument("head", type=FILE)
@options.reporting(
    "--format", type=click.Choice(["text", "json"]), default="text", help="Output format."
)
@options.github(
    "--issue",
    default="",
    metavar="NAME",
    help="In a workflow: keep one issue open while the comparison fails; its title is this name "
    "and what is wrong. A failure to post does not change the exit code.",
)
def compare(**options: Any) -> None:
    """Compare two reports and list the cases that broke.

    BASELINE and HEAD are report.json files; BASELINE may be a folder of reports, which are pooled.
    Exits with 1 on a regression, with 3 if a case lost its
    verdict.
    """
    from rubric_ci.cli.commands.report_show_compare import compare_reports
    from rubric_ci.values.command_settings import CompareSettings

    raise SystemExit(compare_reports(CompareSettings(**options)))


def _read_day(context: click.Context, _: click.Parameter, written: str) -> date:
    from rubric_ci.text.dates import last_day

    day = last_day(written, datetime.now(UTC).date())
    if day is None:
        message = f"--until {written}: expected a date such as 2026-12-31, or a month such as March"
        raise click.UsageError(message, context)
    return day


@command(
    epilog=examples("waive refund/period --until 2026-12-31 --reason 'index is rebuilt in #123'")
)
@click.argument("what", metavar="CASE/CRITERION")
@option(
    "--until",
    callback=_read_day,
    metavar="DATE",
    required=True,
    help="Last day of the waiver, such as 2026-12-31; a month, such as March, is its last day.",
)
@option("--reason", metavar="WORDS", required=True, help="Reason that reports show.")
@option("--owner", metavar="NAME", default="", help="Who fixes it; default: `user.email` of git.")
@option("--file", metavar="FILE", default="", help="Eval file, if several have this case.")
@options.config
def waive(until: date, **options: Any) -> None:
    """Add a known failure of one criterion to waivers.yaml.

    The waiver excuses the criterion with its present text, until a date.
    """
    from rubric_ci.cli.commands.waive import waive as add_waiver
    from rubric_ci.values.command_settings import WaiveSettings

    settings = WaiveSettings(until=until, **options)
    raise SystemExit(add_waiver(settings, datetime.now(UTC).date()))
