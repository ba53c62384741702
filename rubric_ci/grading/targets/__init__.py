"""Targets: each takes a case and returns an answer."""

from typing import Final, assert_never

from rubric_ci.errors import CannotAnswer
from rubric_ci.grading.targets import command, conversation, llm, recorded, service
from rubric_ci.grading.targets.batch_command import Batches
from rubric_ci.grading.targets.skill import with_skill
from rubric_ci.grading.targets.workplace import Workplaces, at_work, needed
from rubric_ci.values.config import (
    CliTarget,
    LlmTarget,
    MockTarget,
    RecordedTarget,
    RunnerTarget,
    Target,
    UnsupportedTarget,
)
from rubric_ci.values.context import RunContext
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.model_facts import instead_of
from rubric_ci.values.results import Answer
from rubric_ci.values.service import ServiceTarget

MOST_ANSWER: Final = 1_000_000  # characters: more is refused, never cut


async def answer(
    case: EvalCase,
    target: Target,
    context: RunContext,
    attempt: int = 0,
    batches: Batches | None = None,
    workplaces: Workplaces | None = None,
) -> Answer:
    """Return the target's answer to the case; each attempt is a new one. Raises NoVerdict.

    `batches` has the cases that a batch target answers in one process; without it, only this one.
    """
    target = at_work(case, target) if isinstance(target, CliTarget) else target
    shared, case = workplaces or Workplaces(), with_skill(case, target)
    session = service.new_session() if isinstance(target, ServiceTarget) else ""

    async def ask(turn: EvalCase) -> Answer:
        if isinstance(target, ServiceTarget):
            return await service.answer(turn, target, context, attempt, session)
        return await _answer(turn, target, context, attempt, shared)

    if isinstance(target, CliTarget) and target.batched:
        _check_batch(case, target)
        batches = batches or Batches([(case, target)])
        given = await batches.answer(case, target, context, attempt)
    elif isinstance(target, MockTarget) and (fixed := recorded.fixed_answer(case, target)):
        given = fixed
    elif case.most_turns and not (isinstance(target, RecordedTarget) or _works(target)):
        given = await conversation.answer(case, context, ask)
    else:
        given = await ask(case)
    if case.workspace and isinstance(target, LlmTarget):
        add = needed("answer with a workspace")
        given = await add(given, case, target.name, context, shared.made())
    if len(given.text) > MOST_ANSWER:
        message = f"has {len(given.text):,} characters; at most {MOST_ANSWER:,} are graded"
        raise CannotAnswer(f"the answer of the target `{target.name}` {message}", given.usage)
    return given


def _check_batch(case: EvalCase, target: Target) -> None:
    if case.most_turns or case.workspace:
        key, each = ("`turns`", "each turn") if case.most_turns else ("a `workspace`", "it")
        raise CannotAnswer(
            f"the target `{target.name}` answers each case once, in a batch; a case with {key} "
            f"needs a command that is started for {each}"
        )


def _works(target: Target) -> bool:
    """Return True for an agent, which works in one folder in all turns."""
    return isinstance(target, CliTarget) and (target.agent, target.workspace) != (None, None)


async def _answer(
    case: EvalCase, target: Target, context: RunContext, attempt: int, workplaces: Workplaces
) -> Answer:
    match target:
        case LlmTarget():
            return await llm.answer(case, target, context, attempt)
        case CliTarget(agent=None, workspace=None):
            return await command.answer(case, target, context, attempt)
        case CliTarget():
            work = needed("answer in a workspace")
            given: Answer = await work(case, target, context, attempt, workplaces.made())
            return given
        case RecordedTarget():
            return recorded.answer(case, target, context)
        case MockTarget():
            return Answer(text=target.response)
        case RunnerTarget():
            raise CannotAnswer(
                f"target {target.name}: a runner has its own cases and answers no others; run "
                f"`rubric-ci run --target {target.name}`"
            )
        case UnsupportedTarget(reason=reason) if reason:
            raise CannotAnswer(f"target {target.name} is not started: {reason}")
        case UnsupportedTarget():
            raise CannotAnswer(
                f"target {target.name}: provider `{target.provider}` is not supported; "
                f"{instead_of(target.provider)}"
            )
        case _:
            assert_never(target)
