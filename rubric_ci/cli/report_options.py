"""Options of reports, and the variables for annotations, comment and check run."""

from functools import partial

import click

from rubric_ci.cli.command import FILE, bundle, option, workflow
from rubric_ci.model import defaults

reporting = partial(option, heading="Reports")
github = partial(option, heading="GitHub")


def _read_formats(
    _: click.Context, __: click.Parameter, text: str
) -> tuple[defaults.ReportFormat, ...]:
    names = (name.strip() for name in text.replace("\n", ",").split(",") if name.strip())
    return tuple(map(_format, names))


def _format(name: str) -> defaults.ReportFormat:
    for known in defaults.REPORT_FORMATS:
        if name == known:
            return known
    raise click.BadParameter(
        f"unknown format `{name}`; choose from {', '.join(defaults.REPORT_FORMATS)}"
    )


outputs = bundle(
    reporting(
        "--output-dir",
        type=FILE,
        metavar="FOLDER",
        default=defaults.OUTPUT_DIR,
        help="Folder for report files.",
    ),
    reporting(
        "--reports",
        metavar="NAMES",
        default="json,markdown",
        callback=_read_formats,
        help=f"Comma-separated report formats: {', '.join(defaults.REPORT_FORMATS)}.",
    ),
    reporting("-q", "--quiet", is_flag=True, help="Print the verdict only."),
    reporting(
        "-v",
        "--verbose",
        is_flag=True,
        help="Print question, expected outcome and answer of each case without a pass.",
    ),
)

posting = bundle(
    workflow(
        "--annotations",
        type=bool,
        default=None,
        metavar="true|false",
        help="Whether to print annotations as workflow commands; default: on GitHub Actions.",
    ),
    workflow(
        "--comment",
        type=click.Choice(["update", "new", "on-failure", "off"]),
        default="off",
        help="Comment on the pull request. A failure to post does not change the exit code.",
    ),
    workflow(
        "--comment-key",
        metavar="KEY",
        default="default",
        help="Identifies this comment when a pull request has several.",
    ),
    workflow("--check-run", default="", metavar="NAME", help="Create a check run with this name."),
)
