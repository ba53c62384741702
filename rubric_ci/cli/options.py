"""Options that several commands share, grouped under headings in `--help`."""

import re
from collections.abc import Callable, Iterable
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from rubric_ci.model import defaults

if TYPE_CHECKING:
    from rubric_ci.model.config import FailOn

Decorator: TypeAlias = Callable[[Callable[..., Any]], Callable[..., Any]]


class _Lines(click.types.StringParamType):
    """A string; an environment variable holds several, one per line, as in workflow files."""

    def split_envvar_value(self, rv: str) -> list[str]:
        return [line.strip() for line in rv.splitlines() if line.strip()]


LINES = _Lines()
FILE = click.Path(path_type=Path)


class Option(click.Option):
    """An option with the heading that `--help` lists it under."""

    def __init__(
        self, *args: Any, heading: str = "Options", variable: str = "", **extra: Any
    ) -> None:
        super().__init__(*args, **extra)
        self.heading = heading
        self.variable = variable  # of every command; empty: only the command's own
        if self.default == "" and not isinstance(self.show_default, str):
            self.show_default = False  # help would show two quotation marks


option = partial(click.option, cls=Option)


class Command(click.Command):
    """A command whose options have headings and can all be set by environment variables."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Set the variable of every option and argument, then parse."""
        for parameter in self.params:
            shared = parameter.variable if isinstance(parameter, Option) else ""
            parameter.envvar = [variable(ctx, parameter), *([shared] if shared else [])]
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one section per heading, in the order of the first option of each."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if isinstance(parameter, click.Option) and record:
                heading = parameter.heading if isinstance(parameter, Option) else "Options"
                sections.setdefault(heading, []).append(record)
        for heading, records in sections.items():
            with formatter.section(heading):
                formatter.write_dl(records)


command = partial(click.command, cls=Command)


def variable(context: click.Context, parameter: click.Parameter) -> str:
    """Return the environment variable of an option or argument."""
    word = max(parameter.opts, key=len).removeprefix("--")
    return f"{context.auto_envvar_prefix}_{word}".upper().replace("-", "_")


def examples(*lines: str) -> str:
    """Return an epilog of examples, whose lines click must not wrap."""
    return "\n".join(["\b", "Examples:", *(f"  rubric-ci {line}" for line in lines)])


def _bundle(*options: Decorator) -> Decorator:
    """Return the options as one decorator; help lists them in this order."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


paths = click.argument("paths", nargs=-1, type=LINES)

select = partial(option, heading="Select")
judging = partial(option, heading="Judge")
gate = partial(option, heading="Gate")
policy = partial(option, heading="Policy")
limits = partial(option, heading="Limits")
requesting = partial(option, heading="Requests and cache")
reporting = partial(option, heading="Reports")
github = partial(option, heading="GitHub")

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
    help="Only cases whose id matches; repeatable.",
)

selection = _bundle(
    cases,
    select(
        "--tag",
        "tags",
        multiple=True,
        type=LINES,
        metavar="TAG",
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


def _read_fail_on(_: click.Context, __: click.Parameter, value: str | None) -> "FailOn | None":
    from rubric_ci.model.config import FailOn

    return FailOn(value) if value else None


def fail_on(default: str) -> Decorator:
    """Return `--fail-on`; `default` describes the value that applies without it."""
    return gate(
        "--fail-on",
        type=click.Choice(["fail", "borderline", "never"]),
        callback=_read_fail_on,
        show_default=default,
        help="Least severe verdict that fails the gate.",
    )


tolerance = gate(
    "--tolerance",
    type=click.FloatRange(0, 1),
    metavar="SCORE",
    default=defaults.TOLERANCE,
    help="Score drop that is still not a regression.",
)

baseline = _bundle(
    gate(
        "--baseline",
        type=FILE,
        metavar="FILE",
        help="Compare with this report, or with the pooled reports of a folder. If it does not "
        "exist, the report says so and the run continues.",
    ),
    tolerance,
)

_limits = _bundle(
    limits(
        "--concurrency",
        type=click.IntRange(min=1),
        metavar="N",
        default=defaults.CONCURRENCY,
        help="Maximum number of cases in progress.",
    ),
    limits(
        "--max-calls",
        type=click.IntRange(min=0),
        metavar="N",
        help="Maximum number of model requests.",
    ),
    limits(
        "--max-cost-usd",
        type=click.FloatRange(min=0),
        metavar="USD",
        help="Maximum cost in US dollars. Requests that could exceed it are not sent.",
    ),
    limits(
        "--max-seconds",
        type=click.FloatRange(min=0),
        metavar="SECONDS",
        help="Stop sending requests after this many seconds.",
    ),
)

_recording = _bundle(
    requesting("--record", type=FILE, metavar="FILE", help="Write every model reply to this file."),
    requesting(
        "--replay",
        type=FILE,
        metavar="FILE",
        help="Take model replies from this recording; no network.",
    ),
)

_cache = _bundle(
    requesting(
        "--cache-dir",
        type=FILE,
        metavar="FOLDER",
        default=defaults.CACHE_DIR,
        help="Folder of the judgement cache.",
    ),
    requesting("--cache/--no-cache", default=True, help="Reuse cached judgements."),
)


def _pop(options: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: options.pop(name) for name in names}


def _read_hosts(_: click.Context, __: click.Parameter, hosts: tuple[str, ...]) -> tuple[str, ...]:
    for host in hosts:
        if not re.fullmatch(r"[A-Za-z0-9._-]+(:[0-9]+)?", host):
            raise click.BadParameter(f"invalid host `{host}`: expected HOST or HOST:PORT, no URL")
    return tuple(host.lower() for host in hosts)


_hosts = policy(
    "--allow-host",
    "allowed_hosts",
    multiple=True,
    type=LINES,
    metavar="HOST",
    callback=_read_hosts,
    variable="RUBRIC_CI_ALLOWED_HOSTS",
    help="Only these hosts get model requests; repeatable. Default with the policy of a base: the "
    "hosts of its configuration and of model providers.",
)


def requests(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add limits and recording; the command gets them as one value, `requests`."""

    @wraps(command)
    def with_requests(**options: Any) -> Any:
        from rubric_ci.model.options import RequestOptions

        limits = ("concurrency", "max_calls", "max_cost_usd", "max_seconds")
        names = ("allowed_hosts", *limits, "record", "replay")
        values = _pop(options, names)
        return command(requests=RequestOptions(**values), **options)

    return _bundle(_hosts, _limits, _recording)(with_requests)


def cache(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of the judgement cache; the command gets them as one value, `cache`."""

    @wraps(command)
    def with_cache(**options: Any) -> Any:
        from rubric_ci.model.options import CacheOptions

        value = CacheOptions(folder=options.pop("cache_dir"), enabled=options.pop("cache"))
        return command(cache=value, **options)

    return _cache(with_cache)


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


outputs = _bundle(
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
    reporting(
        "-v",
        "--verbose",
        is_flag=True,
        help="Print question, expected outcome and answer of each case without a pass.",
    ),
)

color = reporting(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    help="When to use colours; `auto`: at a terminal, unless NO_COLOR is set.",
)

posting = _bundle(
    github(
        "--annotations/--no-annotations",
        default=None,
        help="Print annotations as workflow commands; on if GITHUB_ACTIONS is set.",
    ),
    github(
        "--comment",
        type=click.Choice(["update", "new", "on-failure", "off"]),
        default="off",
        help="Comment on the pull request. A failure to post does not change the exit code.",
    ),
    github(
        "--comment-key",
        metavar="KEY",
        default="default",
        help="Identifies this comment when a pull request has several.",
    ),
    github("--check-run", default="", metavar="NAME", help="Create a check run with this name."),
)
