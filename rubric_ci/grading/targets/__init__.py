"""Targets: each takes a case and returns an answer."""

from typing import Final

from rubric_ci.errors import CannotAnswer
from rubric_ci.grading.targets import conversation, http_target
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
    workplaces: Workplaces | None = None,
) -> Answer:
    """Return the target's answer to the case; each attempt is a new one. Raises NoVerdict."""
    target, shared = at_work(case, target), workplaces or Workplaces()
    case = with_skill(case, target)
    this = Attempt(attempt, http_target.new_session(), shared)

    async def ask(turn: EvalCase) -> Answer:
        return await kind_of(target).answer(turn, target, context, this)

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
