"""Commands around the work in a workspace: before all answers, before each one and after it.

They start outside of the folder, and read its path and the case as JSON on standard input. Without
what one prepares there is no answer; what one leaves undone after it is a note.
"""

import json
from pathlib import Path
from typing import Final

from rubric_ci.errors import CannotAnswer, CannotRunScript
from rubric_ci.model.config import Hook
from rubric_ci.model.context import RunContext
from rubric_ci.model.evals import EvalCase
from rubric_ci.system import processes
from rubric_ci.system.processes import Command, clean_environment, describe_exit
from rubric_ci.system.scratch import variables

_BEFORE_ALL: Final = "__before_all__"  # in place of an id, as AgentV has it


async def prepare(
    name: str, hook: Hook | None, work: Path, case: EvalCase | None, context: RunContext
) -> None:
    """Run a command before an answer, or before all of them; raises CannotAnswer if it fails."""
    if hook and (failed := await _failure(name, hook, work, case, context)):
        raise CannotAnswer(failed)


async def finish(
    name: str, hook: Hook | None, work: Path, case: EvalCase, context: RunContext
) -> tuple[str, ...]:
    """Run a command after an answer, and return the note that it failed."""
    failed = await _failure(name, hook, work, case, context) if hook else ""
    return (failed,) if failed else ()


async def _failure(
    name: str, hook: Hook, work: Path, case: EvalCase | None, context: RunContext
) -> str:
    """Run a command, and return why it failed; "" if it did not."""
    command = Command(
        script=tuple(_filled(word, work, case) for word in hook.command),
        cwd=context.root / hook.cwd,
        environment=clean_environment(context.environment) | variables(work),
        known=context.environment,
        timeout_seconds=hook.timeout_seconds,
        stdin=json.dumps(_facts(work, case)),
    )
    what = f"`{name}` of the workspace failed"
    try:
        finished = await processes.run(command)
    except CannotRunScript as error:
        return f"{what}: {error}"
    return f"{what}: {describe_exit(finished)}" if finished.status else ""


def _filled(word: str, work: Path, case: EvalCase | None) -> str:
    name = case.own_id if case else _BEFORE_ALL
    return word.replace("{EVAL_ID}", name).replace("{WORKSPACE}", str(work))


def _facts(work: Path, case: EvalCase | None) -> dict[str, object]:
    """Return the input of a command, under the names of AgentV; the folder is one of the run."""
    return {
        "workspace_path": str(work),
        "test_id": case.own_id if case else _BEFORE_ALL,
        "eval_run_id": work.parents[1].name,
        "case_input": case.question if case else None,
        "case_metadata": (dict(case.metadata) or None) if case else None,
    }
