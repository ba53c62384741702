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


def _in_project(names: "Callable[[LoadedProject], Iterable[str]]") -> Complete:
    """Return a completion of names in the project of the current folder."""

    def complete(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
        from rubric_ci.errors import UserError
        from rubric_ci.files.project.loaded_project import load_project, open_project

        try:
            with redirect_stderr(StringIO()):
                loaded = load_project((), open_project(context.params.get("config")))
                return _matching(incomplete, names(loaded))
        except UserError:
            return []

    return complete


case_ids = _in_project(lambda loaded: (case.id for case in loaded.cases))
tags = _in_project(lambda loaded: (tag for case in loaded.cases for tag in case.tags))
targets = _in_project(
    lambda loaded: (name for file in loaded.files for name in loaded.config_for(file.path).targets)
)


def rules(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Complete the ids of rules, and `all`."""
    from rubric_ci.files.validation.rules import RULES

    return _matching(incomplete, ["all", *RULES])


def _matching(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in dict.fromkeys(names) if name.startswith(incomplete)]
