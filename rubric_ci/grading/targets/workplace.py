"""The folder that a target works in: its settings for a case; the part `agents` prepares it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from rubric_ci.errors import CannotAnswer
from rubric_ci.evaluators.assertions.folder import check_name
from rubric_ci.evaluators.assertions.marking import TABLE
from rubric_ci.evaluators.assertions.row import FOLDER
from rubric_ci.values import parts
from rubric_ci.values.config import Target
from rubric_ci.values.evals import EvalCase, RubricSpec, every_evaluator
from rubric_ci.values.rubric import Assertion
from rubric_ci.values.workspace_settings import Workspace

HOOK_FAILED: Final = "`{}` of the workspace failed"


class Workplaces:
    """The prepared folders of a run, made when the first target works in one."""

    def __init__(self) -> None:
        self._made: Any = None

    def made(self) -> Any:
        """Return the folders of the part; raises CannotAnswer without it."""
        self._made = self._made or needed("workspaces")()
        return self._made

    def close(self) -> None:
        """Remove the folders."""
        if self._made is not None:
            self._made.close()


def needed(name: str) -> Callable[..., Any]:
    """Return a function of the part `agents`; raises CannotAnswer if the part was removed."""
    found: Callable[..., Any] | None = parts.offered(name)
    if found is None:
        raise CannotAnswer("this installation has no agents and no workspaces")
    return found


def at_work(case: EvalCase, target: Target) -> Target:
    """Return a program with the workspace of the case, if it has one; its sandbox stays."""
    if case.workspace is None or not target.starts_program:
        return target
    own = target.workspace or Workspace()
    return target.having(
        workspace=replace(case.workspace, sandbox=own.sandbox, container=own.container),
        cwd=target.cwd if target.workspace else ".",
    )


def assertions_of(case: EvalCase) -> list[Assertion]:
    """Return the assertions of a case about a workspace, each once."""
    specs = (spec for spec in every_evaluator(case.evaluators) if isinstance(spec, RubricSpec))
    found = (each for spec in specs for each in spec.rubric.assertions)
    by_name = {check_name(c.key, c.value): c for c in found if TABLE[c.key].of == FOLDER}
    return list(by_name.values())


def is_of_hook_after_answer(note: str) -> bool:
    """Return True if the note of an answer says that the command after it failed."""
    return note.startswith(HOOK_FAILED.format("after_each"))
