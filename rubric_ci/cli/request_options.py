"""Options and variables of model requests: limits, recording, allowed hosts and the cache."""

import re
from functools import partial

import click

from rubric_ci.cli.click_types import FILE, LINES, Count, Number, bundle, option, workflow
from rubric_ci.values import formats_and_defaults

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
