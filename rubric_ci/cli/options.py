"""Options that several commands share."""

import re
import sys
from functools import partial

import click

from rubric_ci.cli import completion_and_hints
from rubric_ci.cli.click_types import (
    FILE,
    LINES,
    Count,
    Decorator,
    Number,
    bundle,
    option,
    workflow,
)
from rubric_ci.values import formats_and_defaults
from rubric_ci.values.parts import is_offered

paths = click.argument("paths", nargs=-1, type=LINES)

select = partial(option, heading="Select")
judging = partial(option, heading="Judge")
gate = partial(option, heading="Gate")
comparing = partial(option, heading="Compare")
policy = partial(option, heading="Policy")

config = select(
    "--config",
    type=FILE,
    metavar="FILE",
    help="Configuration file to use instead of rubric-ci.yaml.",
)

policy_from = policy(
    "--policy-from",
    metavar="base|head|FILE",
    default="",
    show_default="base on a pull request in CI, else head",
    help="Source of judge, gate, rule switches and calibration: the base commit, the checkout, or "
    "a configuration file.",
)

cases = select(
    "--case",
    "cases",
    multiple=True,
    type=LINES,
    metavar="GLOB",
    shell_complete=completion_and_hints.case_ids,
    help="Only cases whose id matches; repeatable.",
)


selection = bundle(
    cases,
    select(
        "--tag",
        "tags",
        multiple=True,
        type=LINES,
        metavar="TAG",
        shell_complete=completion_and_hints.tags,
        help="Only cases with this tag; repeatable.",
    ),
    select(
        "--changed-since",
        metavar="REV",
        default="",
        help="Only cases that a change since this revision can affect; `auto` takes the revision "
        "from the event or the branch.",
    ),
)

judge = judging(
    "--judge",
    default="",
    metavar="MODEL",
    help="Use this model (or target's model) as judge everywhere; overrides eval files and "
    "configuration, also their host and key.",
)


def _read_votes(_: click.Context, __: click.Parameter, value: str | None) -> int | str | None:
    """Return an odd number, so that there is always a majority, or `auto`."""
    if value is None or value == "auto":
        return value
    if value.isdecimal() and int(value) % 2:
        return int(value)
    raise click.BadParameter(f"invalid votes `{value}`: expected an odd number or auto")


votes = judging(
    "--votes",
    callback=_read_votes,
    metavar="N|auto",
    show_default="`judge.votes`, else 1",
    help="Judge votes per criterion: an odd number, or `auto` to vote again only when it could "
    "change the verdict.",
)


def fail_on(default: str) -> Decorator:
    """Return `--fail-on`; `default` describes the value that applies without it."""
    return gate(
        "--fail-on",
        type=click.Choice(["fail", "borderline", "regression", "never"]),
        show_default=default,
        variable="RUBRIC_CI_FAIL_ON",
        help="Least severe verdict that fails the gate, or `regression`: what the change broke. "
        "`gate.tags` of the configuration chooses the cases that decide.",
    )


baseline = comparing(
    "--baseline",
    type=FILE,
    metavar="FILE",
    help="Compare with this report, or with the pooled reports of a folder. If it does not "
    "exist, the report says so and the run continues.",
)


reporting = partial(option, heading="Reports")
github = partial(option, heading="GitHub")


def _read_formats(
    _: click.Context, __: click.Parameter, text: str
) -> tuple[formats_and_defaults.ReportFormat, ...]:
    known = formats_and_defaults.REPORT_FORMATS
    names = [name.strip() for name in text.replace("\n", ",").split(",") if name.strip()]
    if unknown := [name for name in names if name not in known]:
        raise click.BadParameter(f"unknown format `{unknown[0]}`; choose from {', '.join(known)}")
    return tuple(each for name in names for each in known if each == name)


def _formats_here() -> str:
    """Return the formats of a run that names none: a person gets the page as well."""
    page = ",html" if sys.stdout.isatty() and is_offered("report as html") else ""
    return f"json,markdown{page}"


outputs = bundle(
    reporting(
        "--output-dir",
        type=FILE,
        metavar="FOLDER",
        default=formats_and_defaults.OUTPUT_DIR,
        help="Folder for report files.",
    ),
    reporting(
        "--reports",
        metavar="NAMES",
        default=_formats_here,
        show_default="json,markdown, and html at a terminal",
        callback=_read_formats,
        help=f"Comma-separated report formats: {', '.join(formats_and_defaults.REPORT_FORMATS)}.",
    ),
    reporting("-q", "--quiet", is_flag=True, help="Print the verdict only."),
    reporting(
        "-v",
        "--verbose",
        is_flag=True,
        help="Print question, expected outcome and answer of each case.",
    ),
)

comment_key = option(
    "--key",
    variable="RUBRIC_CI_COMMENT_KEY",
    metavar="KEY",
    default="",
    show_default="the configuration or paths of the run, where they are given",
    help="Identifies this comment when a pull request has several; stands in its heading.",
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
        "mode",
        type=click.Choice(["update", "on-failure", "off"]),
        default="off",
        help="Comment on the pull request. A failure to post does not change the exit code.",
    ),
    workflow(
        "--comment-key",
        "key",
        metavar="KEY",
        default="",
        show_default="the configuration or PATHS, where they are given",
        help="Identifies this comment when a pull request has several; stands in its heading.",
    ),
    workflow(
        "--check-run",
        "check",
        default="",
        metavar="NAME",
        help="Create a check run with this name.",
    ),
    workflow(
        "--page",
        default="",
        metavar="ARTIFACT",
        help="Name of the artifact that the workflow uploads report.html as; the comment links it.",
    ),
)

limits = partial(option, heading="Limits")
requesting = partial(option, heading="Requests")
caching = partial(option, heading="Cache")

_limits = bundle(
    limits(
        "--concurrency",
        type=Count(min=1),
        metavar="N",
        default=formats_and_defaults.CONCURRENCY,
        help="Maximum number of cases in progress.",
    ),
    limits(
        "--max-calls",
        type=Count(min=0),
        metavar="N",
        variable="RUBRIC_CI_MAX_CALLS",
        help="Maximum number of model requests.",
    ),
    limits(
        "--max-cost-usd",
        type=Number(min=0),
        metavar="USD",
        variable="RUBRIC_CI_MAX_COST_USD",
        help="Maximum cost in US dollars. Requests that could exceed it are not sent.",
    ),
    limits(
        "--max-seconds",
        type=Number(min=0),
        metavar="SECONDS",
        variable="RUBRIC_CI_MAX_SECONDS",
        help="Stop after this many seconds; `run` also ends commands and scripts then.",
    ),
)

_recording = bundle(
    requesting(
        "--record",
        type=FILE,
        metavar="FILE",
        help="Write every reply of a model and answer of a program to this file.",
    ),
    requesting(
        "--replay",
        type=FILE,
        metavar="FILE",
        help="Take replies and answers from this recording; nothing is requested or started.",
    ),
    workflow(
        "--debug",
        is_flag=True,
        help="Log every model request and reply on standard error, with secrets masked.",
    ),
)

cache = bundle(
    workflow(
        "--cache-dir",
        "folder",
        type=FILE,
        metavar="FOLDER",
        default=formats_and_defaults.CACHE_DIR,
        help="Folder of the cache.",
    ),
    workflow(
        "--cache/--no-cache",
        "enabled",
        default=True,
        help="Keep marks and answers, and reuse marks; `false` marks again.",
    ),
)


def _read_hosts(_: click.Context, __: click.Parameter, hosts: tuple[str, ...]) -> tuple[str, ...]:
    for host in hosts:
        if not re.fullmatch(r"[A-Za-z0-9._-]+(:[0-9]+)?", host):
            raise click.BadParameter(f"invalid host `{host}`: expected HOST or HOST:PORT, no URL")
    return tuple(host.lower() for host in hosts)


_hosts = workflow(
    "--allowed-hosts",
    multiple=True,
    type=LINES,
    metavar="HOST",
    callback=_read_hosts,
    help="Only these hosts get model requests, one per line. Default on pull requests: hosts of "
    "the base configuration and of known providers.",
)

requests = bundle(_hosts, _limits, _recording)
