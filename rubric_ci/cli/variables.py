"""Environment variables that begin as options do, and are none: a misspelt cap would be no cap."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

import click

from rubric_ci.text.suggestions import nearest

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


VariableOf: TypeAlias = Callable[[click.Context, click.Parameter], str]


def refuse_unknown(
    context: click.Context, environment: Mapping[str, str], variable: VariableOf
) -> None:
    """Raise UsageError for a variable of this prefix that no command reads.

    `variable` returns the variable of an option.
    """
    for name, value in environment.items():
        word = name.removeprefix(PREFIX)
        if word == name or not value or word in SHARED | NO_OPTIONS:
            continue
        known = set(_of_command(context, word, variable))
        if name not in known:
            here = {variable(context, each) for each in context.command.params}
            own = next((each for each in sorted(here) if each.endswith(f"_{word}")), "")
            words = sorted({*(each.removeprefix(PREFIX) for each in {*known, *here}), *SHARED})
            meant = own.removeprefix(PREFIX) or nearest(word, words)
            hint = f"did you mean {PREFIX}{meant}?" if meant else "unset it, or rename it"
            raise click.UsageError(f"{name} is no variable of rubric-ci; {hint}", context)


def _of_command(context: click.Context, word: str, variable: VariableOf) -> Iterator[str]:
    """Yield the variables of the commands that the word of a variable may begin with."""
    root = context.find_root()
    assert isinstance(root.command, click.Group)  # noqa: S101 - the commands are in a group
    for name in root.command.list_commands(root):
        if word.startswith(f"{_upper(name)}_") and (
            command := root.command.get_command(root, name)
        ):
            yield from _of(command, click.Context(command, root, info_name=name), variable)


def _of(command: click.Command, context: click.Context, variable: VariableOf) -> Iterator[str]:
    if isinstance(command, click.Group):
        for name, each in command.commands.items():
            yield from _of(each, click.Context(each, context, info_name=name), variable)
        return
    yield from (variable(context, each) for each in command.params)


def _upper(name: str) -> str:
    return name.upper().replace("-", "_")
