"""Expected requests of one side of a run, and its preflight.

The work is the tasks of a side without cached results. The preflight asks judges and model targets
once, before a target costs anything. A model that cannot be used then errors its cases with one
reason. A run whose answers are all at hand has no target to save: its first judge request, which is
sent alone, finds out the same.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from rubric_ci.errors import CannotConfigure, NoVerdict, OverBudget
from rubric_ci.evaluators.judge_choice import with_model
from rubric_ci.evaluators.table import KINDS
from rubric_ci.grading.limits import Deadline
from rubric_ci.grading.resolve import Task, judges_of
from rubric_ci.grading.targets import answer_cache, command
from rubric_ci.grading.targets.kinds import at_hand
from rubric_ci.models.llm.budget import check_start, priced
from rubric_ci.models.llm.client import identity
from rubric_ci.models.llm.model_info import prices_of
from rubric_ci.system import coroutines
from rubric_ci.values.context import Allowance, RunContext
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.evals import EvaluatorSpec
from rubric_ci.values.llm_calls import Unsent
from rubric_ci.values.results import Answer
from rubric_ci.values.targets import Endpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedWork:
    """The tasks of one side of a run, and the context that they will be graded in."""

    tasks: Sequence[Task]
    context: RunContext
    trials: int = 1
    name: str = ""  # "base "; empty: the head

    @property
    def startable(self) -> Sequence[Task]:
        """The tasks whose target can answer; the others get no mark either."""
        return [task for task in self.tasks if task.target.can_answer]

    def without_empty_cache(self) -> "ExpectedWork":
        """Return the work without a cache in which there is nothing to look up."""
        cache = self.context.cache
        if cache is None or not cache.is_empty():
            return self
        return replace(self, context=replace(self.context, cache=None))

    def answer(self, task: Task, trial: int) -> Answer | None:
        """Return an answer that is at hand: recorded, fixed or in the cache."""
        target, own = task.target, self.context.for_trial(trial)
        with suppress(NoVerdict):
            if target.is_at_hand:
                return at_hand(task.case, target, own)
            if found := answer_cache.replayed(task.answered, target, own):
                return found
        return answer_cache.find(task.answered, target, own)

    async def uncached(
        self, task: Task, spec: EvaluatorSpec, own: RunContext
    ) -> Sequence[Endpoint] | None:
        """Return the model of each judge request that the cache leaves; None: of all of them.

        What the cache answers is kept for the run. The context sends nothing.
        """
        if self.context.cache is None or self.context.fresh_judgements:
            return None
        assess, answer = KINDS[spec.type].assess, self.answer(task, own.trial)
        if answer is None or assess is None:
            return None
        with suppress(NoVerdict):  # the run says why
            found = await assess(task.case, answer, spec, own)
            if isinstance(found, Unsent):
                return found.models
            own.prepared.keep(task.case, spec, own.trial, answer, found)
        return ()


def check_targets(sides: Sequence[ExpectedWork]) -> None:
    """Raise CannotConfigure for a target or user that has to answer and fits no cap in dollars."""
    for side in sides:
        for task in side.tasks:
            try:
                _check(task)
            except CannotConfigure:
                if _lacks_answer(side, task):
                    raise


def _check(task: Task) -> None:
    target, user = task.target, task.case.simulated_user
    if not task.case.evaluators:
        return
    if target.endpoint:
        priced(target.endpoint, prices_of, f"{target.endpoint.model} of the target `{target.name}`")
    elif price := command.price_of(target):
        check_start(price)
    if user and (player := with_model(task.judge, user.model)):
        priced(player.endpoint, prices_of, f"{player.endpoint.model}, the simulated user,")


def models_to_ask(sides: Sequence[ExpectedWork]) -> tuple[Endpoint, ...]:
    """Return the judges and model targets of the cases that a target has to answer."""
    found: dict[str, Endpoint] = {}
    for side in sides:
        for task in side.tasks:
            new = {name: each for each in _models(task) if (name := identity(each)) not in found}
            if new and _lacks_answer(side, task):
                found |= new
    return tuple(found.values())


async def ask_models(models: Sequence[Endpoint], allowance: Allowance) -> bool:
    """Find out which models are unreachable; return False on cancellation (Ctrl-C, SIGTERM)."""
    if allowance.preflight is None:
        return True
    try:
        asking = coroutines.gather_all(map(allowance.preflight, models))
        await Deadline(allowance.max_seconds, allowance.started).enforce(asking)
    except OverBudget:
        return True  # each case has the reason
    except asyncio.CancelledError:
        return False
    return True


def _models(task: Task) -> Iterator[Endpoint]:
    """Yield the judges that count and the model that answers, if the target may cost something."""
    if not task.case.evaluators:
        return
    if task.target.endpoint:
        yield task.target.endpoint
    if task.target.is_asked:
        judges = judges_of(task.case, task.judge)
        yield from (one for judge, spec in judges if spec.weight > 0 for one in judge.endpoints)


def _lacks_answer(side: ExpectedWork, task: Task) -> bool:
    start = side.context.trial
    numbers = range(start, start + task.trials(side.trials))
    return any(side.answer(task, number) is None for number in numbers)
