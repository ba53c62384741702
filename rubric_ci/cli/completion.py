"""Shell completion of names in the project, which are case ids, tags and targets, and of rule ids.

A shell calls these while a person types, so a project that cannot be read completes nothing.
"""

from collections.abc import Callable, Iterable
from contextlib import redirect_stderr
from io import StringIO
from typing import TYPE_CHECKING, TypeAlias

import click

if TYPE_CHECKING:
    from rubric_ci.files.project.loaded_project import LoadedProject

Complete: TypeAlias = Callable[[click.Context, click.Parameter, str], list[str]]


def case_ids(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Complete the ids of the configured eval files."""
    return _matching(incomplete, _of_project(context, _ids))


def tags(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Complete the tags of the configured eval files."""
    return _matching(incomplete, _of_project(context, _tags))


def targets(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Complete the targets that serve the configured eval files."""
    return _matching(incomplete, _of_project(context, _targets))


def rules(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Complete the ids of rules, and `all`."""
    from rubric_ci.files.validation.rules import RULES

    return _matching(incomplete, ["all", *RULES])


def _of_project(
    context: click.Context, names: "Callable[[LoadedProject], Iterable[str]]"
) -> Iterable[str]:
    """Return names of the project of the current folder; none if it cannot be read."""
    from rubric_ci.errors import UserError
    from rubric_ci.files.project.loaded_project import load_project, open_project

    try:
        with redirect_stderr(StringIO()):
            return names(load_project((), open_project(context.params.get("config"))))
    except UserError:
        return ()


def _ids(loaded: "LoadedProject") -> Iterable[str]:
    return [case.id for case in loaded.cases]


def _tags(loaded: "LoadedProject") -> Iterable[str]:
    return [tag for case in loaded.cases for tag in case.tags]


def _targets(loaded: "LoadedProject") -> Iterable[str]:
    return [name for file in loaded.files for name in loaded.config_for(file.path).targets]


def _matching(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in dict.fromkeys(names) if name.startswith(incomplete)]
