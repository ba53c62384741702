"""The skill of a target, and the folder that it works in, which the part `agents` prepares."""

from collections.abc import Callable
from dataclasses import replace
from posixpath import basename
from typing import Any, Final

from rubric_ci.errors import CannotAnswer
from rubric_ci.evaluators.assertions.folder import check_name
from rubric_ci.evaluators.assertions.marking import TABLE
from rubric_ci.evaluators.assertions.row import FOLDER
from rubric_ci.values import parts
from rubric_ci.values.evals import EvalCase, RubricSpec, every_evaluator
from rubric_ci.values.messages import Message, TextPart
from rubric_ci.values.rubric import Assertion
from rubric_ci.values.targets import Target
from rubric_ci.values.workspace_settings import Skill, Workspace


def with_skill(case: EvalCase, target: Target) -> EvalCase:
    """Return the case as the target is asked: a message on its skill comes first.

    A model and a command get the text of `SKILL.md`. An agent with a workspace finds the skill
    there, and reads what it needs.
    """
    if target.skill is None:
        return case
    text = f"Follow this skill where it applies.\n\n{target.skill.text}"
    if target.agent or target.workspace:
        folder = place(target.skill)
        text = (
            f"The folder `{folder}` has a skill. Read `{folder}/SKILL.md` first, and follow it "
            "where it applies."
        )
    message = Message(role="system", parts=(TextPart(text),))
    return replace(case, input_messages=(message, *case.input_messages))


def place(skill: Skill) -> str:
    """Return the folder of a skill in a workspace."""
    return f"skills/{basename(skill.path)}"


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
