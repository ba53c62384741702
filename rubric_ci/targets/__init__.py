"""Targets: each takes a case and returns an answer."""

from typing import Final, assert_never

from rubric_ci.errors import CannotAnswer
from rubric_ci.model.config import (
    CliTarget,
    LlmTarget,
    MockTarget,
    RecordedTarget,
    RunnerTarget,
    Target,
    UnsupportedTarget,
)
from rubric_ci.model.context import RunContext
from rubric_ci.model.evals import EvalCase
from rubric_ci.model.results import Answer
from rubric_ci.targets import agent, command, llm, mock, recorded
from rubric_ci.targets.batch_command import Batches
from rubric_ci.targets.workspace import Workspaces

MOST_ANSWER: Final = 1_000_000  # characters: more is refused, never cut


async def answer(
    case: EvalCase,
    target: Target,
    context: RunContext,
    attempt: int = 0,
    batches: Batches | None = None,
    workspaces: Workspaces | None = None,
) -> Answer:
    """Return the target's answer to the case; each attempt is a new one. Raises NoVerdict.

    `batches` has the cases that a batch target answers in one process; without it, only this one.
    """
    if isinstance(target, CliTarget) and target.batched:
        batches = batches or Batches([(case, target)])
        given = await batches.answer(case, target, context, attempt)
    else:
        given = await _answer(case, target, context, attempt, workspaces or Workspaces())
    if len(given.text) > MOST_ANSWER:
        message = f"has {len(given.text):,} characters; at most {MOST_ANSWER:,} are graded"
        raise CannotAnswer(f"the answer of the target `{target.name}` {message}", given.usage)
    return given


async def _answer(
    case: EvalCase, target: Target, context: RunContext, attempt: int, workspaces: Workspaces
) -> Answer:
    match target:
        case LlmTarget():
            return await llm.answer(case, target, context, attempt)
        case CliTarget(agent=None, workspace=None):
            return await command.answer(case, target, context, attempt)
        case CliTarget():
            return await agent.answer(case, target, context, attempt, workspaces)
        case RecordedTarget():
            return recorded.answer(case, target, context)
        case MockTarget():
            return mock.answer(target)
        case RunnerTarget():
            raise CannotAnswer(
                f"target {target.name}: a runner has cases of its own and answers no others; run "
                f"`rubric-ci run --target {target.name}`"
            )
        case UnsupportedTarget():
            raise CannotAnswer(
                f"target {target.name}: provider `{target.provider}` is not supported; write "
                "`provider: cli` with the program's command line as `command_template`"
            )
        case _:
            assert_never(target)
