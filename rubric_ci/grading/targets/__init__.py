"""Targets: each takes a case and returns an answer."""

from typing import Final

from rubric_ci.errors import CannotAnswer
from rubric_ci.grading.targets import conversation, http_target
from rubric_ci.grading.targets.batch_command import Batches
from rubric_ci.grading.targets.kinds import Attempt, at_hand, kind_of
from rubric_ci.grading.targets.workplace import Workplaces, at_work, needed, with_skill
from rubric_ci.values.context import RunContext
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.results import Answer
from rubric_ci.values.targets import Target

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
    target, shared = at_work(case, target), workplaces or Workplaces()
    case = with_skill(case, target)
    this = Attempt(attempt, http_target.new_session(), shared, batches)

    async def ask(turn: EvalCase) -> Answer:
        return await kind_of(target).answer(turn, target, context, this)

    if target.batched:
        _check_batch(case, target)
    if written := at_hand(case, target, context):
        given = written
    elif case.most_turns and not target.works_in_folder:
        given = await conversation.answer(case, context, ask)
    else:
        given = await ask(case)
    if case.workspace and target.endpoint:
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
