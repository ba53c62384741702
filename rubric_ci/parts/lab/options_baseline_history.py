"""The commands `baseline` and `history` with their options."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from rubric_ci.cli import options
from rubric_ci.cli.click_types import FILE, Count, Group, examples, option
from rubric_ci.text.escape import log_line
from rubric_ci.values import formats_and_defaults


@click.group(cls=Group)
def baseline() -> None:
    """Manage the baseline that nightly runs are compared with."""


_report = click.argument("report", type=FILE, default=formats_and_defaults.REPORT)
_folder = option(
    "--baseline",
    type=FILE,
    metavar="FOLDER",
    default=formats_and_defaults.REFERENCE,
    help="Folder of the baseline.",
)


@baseline.command()
@_report
@_folder
def keep(report: Path, baseline: Path) -> None:
    """Add a run to the log of the baseline.

    REPORT is the report.json of a run over all cases. The first run becomes the baseline; later
    ones add trials only to cases that have fewer than five.
    """
    from rubric_ci.gate.report.report_file import read_report
    from rubric_ci.parts.lab.reference_folder import keep as keep_run

    for line in keep_run(read_report(report), baseline):
        click.echo(log_line(line))


@baseline.command(epilog=examples("baseline accept --reason 'shorter answers are wanted, #12'"))
@_report
@_folder
@option("--reason", required=True, metavar="REASON", help="Why these results are the baseline.")
@options.cases
def accept(report: Path, baseline: Path, reason: str, cases: tuple[str, ...]) -> None:
    """Make the results of a run the baseline.

    REPORT is the report.json of a run over all cases. The changes that are accepted are printed;
    commit, date and reason are kept in the folder, and later reports show them.
    """
    from rubric_ci.gate.report.report_file import read_report
    from rubric_ci.parts.lab.reference_folder import Acceptance
    from rubric_ci.parts.lab.reference_folder import accept as accept_run
    from rubric_ci.reports.render import comparison_section

    head, now = read_report(report), datetime.now(UTC).isoformat(timespec="seconds")
    compared = accept_run(head, baseline, Acceptance(reason=reason, cases=cases, decided_at=now))
    if compared:
        click.echo(comparison_section.text(compared), nl=False)
    click.echo(log_line(f"accepted: {report} of {head.started_at} ({reason})"))


_history = option(
    "--history",
    type=FILE,
    metavar="FILE",
    default=formats_and_defaults.HISTORY,
    help="History file, one run per line of JSON.",
)

_title = option("--title", metavar="WORDS", default="rubric-ci history", help="Title of the page.")


def _last(default: int | None, shown: bool | str) -> Callable[..., Any]:
    return option(
        "--last",
        type=Count(min=1),
        metavar="N",
        default=default,
        show_default=shown,
        help="Number of runs, the newest ones.",
    )


@click.group(cls=Group)
def history() -> None:
    """Keep records of runs and show their trends."""


@history.command(
    epilog=examples(
        "history add .rubric-ci/report.json",
        "history add report.json --link https://example.com/report.html",
    )
)
@click.argument("report", type=FILE, default=formats_and_defaults.REPORT)
@_history
@option(
    "--link",
    default="",
    metavar="URL",
    help="Address of the report on the page; default: the workflow run.",
)
def add(**options: Any) -> None:
    """Add a run to the history.

    REPORT is the report.json of a run. A report that was added before is not added twice.
    """
    from rubric_ci.parts.lab.commands import history as commands

    raise SystemExit(commands.add(**options))


@history.command()
@_history
@_last(20, shown=True)
def show(**options: Any) -> None:
    """Print changes of score and cost, and cases whose verdict changes."""
    from rubric_ci.parts.lab.commands import history as commands

    raise SystemExit(commands.show(**options))


@history.command()
@_history
@option(
    "--output",
    type=FILE,
    metavar="FILE",
    default=formats_and_defaults.HISTORY_PAGE,
    help="HTML file to write.",
)
@_title
@_last(None, shown="all")
def page(**options: Any) -> None:
    """Write the history as one HTML page.

    The page refers to no other file.
    """
    from rubric_ci.parts.lab.commands import history as commands

    raise SystemExit(commands.write_page(**options))


@history.command(epilog=examples("history publish report.json --site site"))
@click.argument("report", type=FILE, default=formats_and_defaults.REPORT)
@option("--site", type=FILE, metavar="FOLDER", default="site", help="Folder of the site.")
@_title
def publish(**options: Any) -> None:
    """Add a run to a site's history and write its pages.

    The site is history.jsonl, index.html, and report.html with the latest run. A
    history.jsonl that is there already is continued.
    """
    from rubric_ci.parts.lab.commands import history as commands

    raise SystemExit(commands.publish(**options))
