"""Commands around the work in a workspace: before all answers, before each one and after it.

They start outside of the folder, and read its path and the case as JSON on standard input. If one
fails before the answer, there is none; if one fails after it, a note says so.
"""

import json
import re
from pathlib import Path
from typing import Final

from rubric_ci.errors import CannotAnswer, CannotRunScript
from rubric_ci.grading.targets.workplace import HOOK_FAILED
from rubric_ci.system import processes
from rubric_ci.system.processes import Command, clean_environment, describe_exit
from rubric_ci.system.scratch import variables
from rubric_ci.values.context import RunContext
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.workspace_settings import Hook

_PLACEHOLDER: Final = re.compile(r"(?<!\$)\{(?:WORKSPACE|EVAL_ID)\}")  # not a shell's variable
_BEFORE_ALL: Final = "__before_all__"  # in place of an id, as AgentV has it


async def prepare(
    name: str,
    hook: Hook | None,
    work: Path,
    case: EvalCase | None,
    context: RunContext,
    *,
    run: str,
) -> None:
    """Run a command before an answer, or before all of them; raises CannotAnswer if it fails."""
    if hook and (failed := await _failure(name, hook, _facts(work, case, run), context)):
        raise CannotAnswer(failed)


async def finish(
    name: str, hook: Hook | None, work: Path, case: EvalCase, context: RunContext, *, run: str
) -> tuple[str, ...]:
    """Run a command after an answer, and return the note that it failed."""
    failed = await _failure(name, hook, _facts(work, case, run), context) if hook else ""
    return (failed,) if failed else ()


async def _failure(name: str, hook: Hook, facts: dict[str, object], context: RunContext) -> str:
    """Run a command, and return why it failed; "" if it did not."""
    work, identifier = str(facts["workspace_path"]), str(facts["test_id"])
    command = Command(
        script=tuple(_filled(word, work, identifier) for word in hook.command),
        cwd=context.root / hook.cwd,
        environment=clean_environment(context.environment) | variables(Path(work)),
        known=context.environment,
        timeout_seconds=hook.timeout_seconds,
        stdin=json.dumps(facts),
    )
    what = HOOK_FAILED.format(name)
    try:
        finished = await processes.run(command)
    except CannotRunScript as error:
        return f"{what}: {error}"
    withheld = "a hook gets no variables"
    return f"{what}: {describe_exit(finished, withheld)}" if finished.status else ""


def _filled(word: str, work: str, identifier: str) -> str:
    """Return a word with the folder and the id, in which nothing is replaced."""
    values = {"{WORKSPACE}": work, "{EVAL_ID}": identifier}
    return _PLACEHOLDER.sub(lambda match: values[match[0]], word)


def _facts(work: Path, case: EvalCase | None, run: str) -> dict[str, object]:
    """Return the input of a command, under the names of AgentV."""
    return {
        "workspace_path": str(work),
        "test_id": case.own_id if case else _BEFORE_ALL,
        "eval_run_id": run,
        "case_input": case.question if case else None,
        "case_metadata": (dict(case.metadata) or None) if case else None,
    }
