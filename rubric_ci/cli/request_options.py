"""Options and variables of model requests: limits, recording, allowed hosts and the cache."""

import re
from collections.abc import Callable
from functools import partial, wraps
from typing import Any

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

_cache = bundle(
    workflow(
        "--cache-dir",
        type=FILE,
        metavar="FOLDER",
        default=formats_and_defaults.CACHE_DIR,
        help="Folder of the cache.",
    ),
    workflow(
        "--cache/--no-cache",
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


def requests(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add limits and recording; the command gets them as one value, `requests`."""

    @wraps(command)
    def with_requests(**options: Any) -> Any:
        from rubric_ci.values.command_settings import RequestOptions

        limits = ("concurrency", "max_calls", "max_cost_usd", "max_seconds")
        names = ("allowed_hosts", *limits, "record", "replay", "debug")
        values = {name: options.pop(name) for name in names}
        return command(requests=RequestOptions(**values), **options)

    return bundle(_hosts, _limits, _recording)(with_requests)


def cache(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of the judgement cache; the command gets them as one value, `cache`."""

    @wraps(command)
    def with_cache(**options: Any) -> Any:
        from rubric_ci.values.command_settings import CacheOptions

        value = CacheOptions(folder=options.pop("cache_dir"), enabled=options.pop("cache"))
        return command(cache=value, **options)

    return _cache(with_cache)
