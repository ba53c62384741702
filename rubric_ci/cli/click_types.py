"""The command and option types of click: headings in `--help`, environment variables, examples."""

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Any, Final, TypeAlias

import click
from click.core import ParameterSource

from rubric_ci.text.suggestions import nearest

INPUT_NAMES: Final = "RUBRIC_CI_INPUT_NAMES"  # of hooks/action.py: its errors name the input
Decorator: TypeAlias = Callable[[Callable[..., Any]], Callable[..., Any]]


class _Lines(click.types.StringParamType):
    """A string; an environment variable holds several, one per line, as in workflow files."""

    def split_envvar_value(self, rv: str) -> list[str]:
        return [line.strip() for line in rv.splitlines() if line.strip()]


class Number(click.FloatRange):
    """A number in a range; `nan`, which no limit refuses, and infinity are errors."""

    name = "number"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        _refuse_text(value, float, param, ctx)
        number: float = super().convert(value, param, ctx)
        if not isfinite(number):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return number


class Count(click.IntRange):
    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        _refuse_text(value, int, param, ctx)
        number: int = super().convert(value, param, ctx)
        return number


def _refuse_text(
    value: Any,
    kind: type[int | float],
    parameter: click.Parameter | None,
    context: click.Context | None,
) -> None:
    """Raise click.BadParameter for a text that is no number, with the number that it means."""
    try:
        kind(value)
    except ValueError:
        from rubric_ci.text.suggestions import number_hint, seconds_hint  # only mistakes need it

        in_seconds = parameter is not None and parameter.metavar == "SECONDS"
        hint = (in_seconds and seconds_hint(value)) or number_hint(value)
        word = "a whole number" if kind is int else "a number"
        shown = f"`{value}`" if value else "an empty text"
        message = f"{shown} is not {word}{hint and f'; {hint}'}"
        raise click.BadParameter(message, context, parameter) from None


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


class Variable(Option):
    """A setting of a workflow or a machine: one environment variable for all commands, no option.

    `--help` lists options; the page of the command lists the variables as well.
    """

    def __init__(self, *args: Any, **extra: Any) -> None:
        super().__init__(*args, hidden=True, **extra)

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Leave the command line without it."""


option = partial(click.option, cls=Option)
workflow = partial(click.option, cls=Variable)


_WHOLE: Final = "rubric_ci.help_all"
"""Under it a context knows that `--help-all` was given."""


def shows_all(context: click.Context) -> bool:
    return bool(context.meta.get(_WHOLE))


def _show_all(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked and not context.resilient_parsing:
        context.meta[_WHOLE] = True
        click.echo(context.get_help(), color=context.color)
        context.exit()


help_all = partial(
    click.option, "--help-all", is_flag=True, is_eager=True, expose_value=False, callback=_show_all
)


class Command(click.Command):
    """A command whose options have headings and can all be set by environment variables.

    `first` names the options of `--help`, if it does not list all: `--help-all` does.
    """

    def __init__(self, *args: Any, first: Collection[str] = (), **extra: Any) -> None:
        super().__init__(*args, **extra)
        self.first = frozenset(first)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Set the variable of every option and argument, then parse."""
        for parameter in self.params:
            if parameter.is_eager:
                continue
            shared = parameter.variable if isinstance(parameter, Option) else ""
            parameter.envvar = [variable(ctx, parameter), *([shared] if shared else [])]
        if not ctx.resilient_parsing:
            _refuse_repeated(self._given(ctx, args), ctx)
        try:
            return super().parse_args(ctx, args)
        except click.BadParameter as error:
            given = ctx.get_parameter_source(error.param.name or "") if error.param else None
            if given is ParameterSource.ENVIRONMENT and INPUT_NAMES not in os.environ:
                names = getattr(error.param, "envvar", ())
                error.param_hint = next((each for each in names if os.environ.get(each)), None)
            raise

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command and name the next one; raises UsageError for an unknown variable."""
        if any(name.startswith(f"{ctx.find_root().auto_envvar_prefix}_") for name in os.environ):
            _refuse_unknown(ctx, os.environ)
        try:
            return super().invoke(ctx)
        except SystemExit as end:
            from rubric_ci.cli.completion_and_hints import show_next

            show_next(ctx, end.code)
            raise

    def _given(self, ctx: click.Context, args: list[str]) -> Sequence[click.Parameter]:
        """Return the options and arguments of the command line, in its order."""
        try:
            return self.make_parser(ctx).parse_args([*args])[2]
        except click.NoSuchOption as error:
            for each in self.params:
                if isinstance(each, Variable) and error.option_name in each.opts:
                    message = f"there is no option {each.opts[0]}; set {variable(ctx, each)}"
                    raise click.UsageError(message, ctx) from error
            from rubric_ci.cli.completion_and_hints import option_meant

            options = [name for each in self.params for name in each.opts]
            if meant := option_meant(error.option_name, options):
                message = f"there is no option {error.option_name}; did you mean {meant}?"
                raise click.UsageError(message, ctx) from error
            raise

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one section per heading, in the order of the first option of each."""
        sections: dict[str, list[tuple[str, str]]] = {}
        whole = not self.first or shows_all(ctx)
        for parameter in self.get_params(ctx):
            shown = whole or parameter.is_eager or parameter.name in self.first
            record = parameter.get_help_record(ctx) if shown else None
            if isinstance(parameter, click.Option) and record:
                heading = parameter.heading if isinstance(parameter, Option) else "Options"
                sections.setdefault(heading, []).append(record)
        for heading, records in sections.items():
            with formatter.section(heading):
                formatter.write_dl(records)


class Group(click.Group):
    """A group of commands, which help lists in the order of their definition."""

    command_class = Command

    def list_commands(self, _: click.Context) -> list[str]:
        """Return the names in the order of definition, which is the order of use."""
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; name the one that an unknown word probably means."""
        word = args[0]
        unknown = not word.startswith("-") and self.get_command(ctx, word) is None
        if unknown and not ctx.resilient_parsing:
            from rubric_ci.cli.completion_and_hints import message

            raise click.UsageError(message(word, ctx), ctx)
        return super().resolve_command(ctx, args)


command = partial(click.command, cls=Command)


def _refuse_repeated(given: Sequence[click.Parameter], context: click.Context) -> None:
    """Raise UsageError if an option that has one value is given twice: click would take the last.

    `given` is in the order of the command line, each option as often as it is there.
    """
    for position, parameter in enumerate(given):
        if not isinstance(parameter, click.Option) or parameter.is_eager:
            continue  # `--help` ends the command before anything is lost
        if not (parameter.multiple or parameter.count) and parameter in given[:position]:
            names = " / ".join((*parameter.opts, *parameter.secondary_opts))
            raise click.UsageError(f"{names} is given twice; it has one value", context)


def variable(context: click.Context, parameter: click.Parameter) -> str:
    """Return the environment variable of an option or argument, or of a workflow's setting."""
    word = max(parameter.opts, key=len).removeprefix("--")
    owner = context.find_root() if isinstance(parameter, Variable) else context
    return f"{owner.auto_envvar_prefix}_{word}".upper().replace("-", "_")


def examples(*lines: str) -> str:
    """Return an epilog of examples, whose lines click must not wrap."""
    return "\n".join(["\b", "Examples:", *(f"  rubric-ci {line}" for line in lines)])


def bundle(*options: Decorator) -> Decorator:
    """Return the options as one decorator; help lists them in this order."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


PREFIX: Final = "RUBRIC_CI_"
SHARED: Final = frozenset(
    (
        *("ALLOWED_HOSTS", "ANNOTATIONS", "BATCH", "CACHE", "CACHE_DIR", "CHECK_RUN", "COMMENT"),
        *("COMMENT_KEY", "DEBUG", "FAIL_ON", "MAX_CALLS", "MAX_COST_USD", "MAX_SECONDS", "PAGE"),
    )
)
"""Variables of every command that has the option."""
NO_OPTIONS: Final = frozenset(
    (
        *("CACHE_KEY", "COMMAND", "ENV", "INPUTS", "INPUT_NAMES", "REQUIREMENTS", "RESTART"),
        *("WORKING_DIRECTORY", "WORKSPACE"),
    )
)
"""Variables of the action and of the cache."""


def _refuse_unknown(context: click.Context, environment: Mapping[str, str]) -> None:
    """Raise UsageError for a variable of this prefix that no command reads.

    It begins as an option does, and is none: a misspelt cap would be no cap.
    """
    for name, value in environment.items():
        word = name.removeprefix(PREFIX)
        if word == name or not value or word in SHARED | NO_OPTIONS:
            continue
        known = set(_variables_of_command(context, word))
        if name not in known:
            here = {variable(context, each) for each in context.command.params}
            own = next((each for each in sorted(here) if each.endswith(f"_{word}")), "")
            words = sorted({*(each.removeprefix(PREFIX) for each in {*known, *here}), *SHARED})
            meant = own.removeprefix(PREFIX) or nearest(word, words)
            hint = f"did you mean {PREFIX}{meant}?" if meant else "unset it, or rename it"
            raise click.UsageError(f"{name} is no variable of rubric-ci; {hint}", context)


def _variables_of_command(context: click.Context, word: str) -> Iterator[str]:
    """Yield the variables of the commands that the word of a variable may begin with."""
    root = context.find_root()
    assert isinstance(root.command, click.Group)  # noqa: S101 - the commands are in a group
    for name in root.command.list_commands(root):
        start = name.upper().replace("-", "_")
        if word.startswith(f"{start}_") and (command := root.command.get_command(root, name)):
            yield from _all_variables(command, click.Context(command, root, info_name=name))


def _all_variables(command: click.Command, context: click.Context) -> Iterator[str]:
    if isinstance(command, click.Group):
        for name, each in command.commands.items():
            yield from _all_variables(each, click.Context(each, context, info_name=name))
        return
    yield from (variable(context, each) for each in command.params)
