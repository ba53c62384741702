"""Options that several commands share, alone or in bundles; the words stand here once."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import click

Decorator: TypeAlias = Callable[[Callable[..., Any]], Callable[..., Any]]

CACHE_DIR = Path(".rubric-ci/cache")  # as model.settings has it, which --help need not load
REPORTS = ("json", "markdown", "junit", "sarif", "html")


class _Lines(click.types.StringParamType):
    """A word; an environment variable holds several, one a line, as workflows write lists."""

    def split_envvar_value(self, rv: str) -> list[str]:
        return [line.strip() for line in rv.splitlines() if line.strip()]


LINES = _Lines()


def variable(context: click.Context, parameter: click.Parameter) -> str:
    """Return the environment variable of an option or argument, named as people type it."""
    word = max(parameter.opts, key=len).removeprefix("--")
    return f"{context.auto_envvar_prefix}_{word}".upper().replace("-", "_")


class Command(click.Command):
    """A command of which everything can be said by environment variables, as an action does."""

    def __init__(self, *args: Any, **extra: Any) -> None:
        super().__init__(*args, **extra)
        for parameter in self.params:
            if isinstance(parameter, click.Option) and parameter.default == "":
                parameter.show_default = False  # help would show two quotation marks

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Name the variable of every option and argument, then read the words."""
        for parameter in self.params:
            parameter.envvar = variable(ctx, parameter)
        return super().parse_args(ctx, args)


command = partial(click.command, cls=Command)


def examples(*lines: str) -> str:
    """Return the end of a page of help; click keeps its lines as they are."""
    return "\n".join(["\b", "Examples:", *(f"  rubric-ci {line}" for line in lines)])


def _bundle(*options: Decorator) -> Decorator:
    """Return the options as one decorator; help shows them in this order."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


config = click.option(
    "--config",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Read this in place of rubric-ci.yaml.",
)

color = click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    help="Use colours; `auto` does at a terminal, unless NO_COLOR is set.",
)

judge = click.option(
    "--judge",
    default="",
    metavar="MODEL",
    help="Let this model, or this target's, mark everything, whatever the files say.",
)


choosing = _bundle(
    click.option(
        "--case",
        "cases",
        multiple=True,
        type=LINES,
        metavar="GLOB",
        help="Only cases whose id matches; may be given again.",
    ),
    click.option(
        "--tag",
        "tags",
        multiple=True,
        type=LINES,
        metavar="TAG",
        help="Only cases that carry this tag; may be given again.",
    ),
    click.option(
        "--changed-since",
        metavar="REV",
        default="",
        help="Only cases that a change since this revision can affect; `auto` finds the revision "
        "from the event or the branch.",
    ),
)

concurrency = click.option(
    "--concurrency", type=click.IntRange(min=1), default=16, help="Cases in flight."
)

recording = _bundle(
    click.option(
        "--record",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Keep every reply of a model in this file.",
    ),
    click.option(
        "--replay",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Answer from a recording; no network.",
    ),
)

against_a_baseline = _bundle(
    click.option(
        "--baseline",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Compare with this report; one that does not exist yet is told in the report.",
    ),
    click.option(
        "--tolerance",
        type=click.FloatRange(0, 1),
        default=0.05,
        help="A score may fall so far below the baseline's.",
    ),
)

outputs = _bundle(
    click.option(
        "--output-dir",
        type=click.Path(path_type=Path),
        metavar="FOLDER",
        default=Path(".rubric-ci"),
        help="Where reports go.",
    ),
    click.option(
        "--reports",
        metavar="NAMES",
        default="json,markdown",
        help=f"Which, separated by commas: {', '.join(REPORTS)}.",
    ),
    click.option(
        "--annotations/--no-annotations",
        default=None,
        help="Print workflow commands; on where GITHUB_ACTIONS is set.",
    ),
)

caps = _bundle(
    click.option(
        "--max-calls", type=click.IntRange(min=0), help="Send no more requests to models."
    ),
    click.option(
        "--max-cost-usd", type=click.FloatRange(min=0), help="Send nothing that might cost more."
    ),
    click.option(
        "--max-seconds", type=click.FloatRange(min=0), help="Ask nothing any more after this time."
    ),
)

remembering = _bundle(
    click.option(
        "--cache-dir",
        type=click.Path(path_type=Path),
        metavar="FOLDER",
        default=CACHE_DIR,
        help="Where judgements are kept.",
    ),
    click.option("--cache/--no-cache", default=True, help="Take judgements that were made before."),
)

posting = _bundle(
    click.option(
        "--comment",
        type=click.Choice(["update", "new", "on-failure", "off"]),
        default="off",
        help="Comment on the pull request, best effort.",
    ),
    click.option(
        "--comment-key",
        metavar="KEY",
        default="default",
        help="Tells several comments of ours apart.",
    ),
    click.option("--check-run", default="", metavar="NAME", help="Write a check run of this name."),
)
