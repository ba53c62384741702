"""Preflight of a run: judges and model targets are asked once, before a target costs anything.

A model that cannot be used then errors its cases with one reason. A run whose answers are all at
hand has no target to save: its first judge request, which is sent alone, finds out the same.
"""

import asyncio
from collections.abc import Iterator, Sequence

from rubric_ci.errors import OverBudget
from rubric_ci.grading.expected_work import ExpectedWork
from rubric_ci.grading.limits import Deadline
from rubric_ci.grading.resolve import Task, judges_of
from rubric_ci.llm.circuit_breaker import identity
from rubric_ci.model.config import CliTarget, Endpoint, LlmTarget
from rubric_ci.model.context import RunContext
from rubric_ci.model.usage import NOTHING_USED, Usage
from rubric_ci.system import coroutines


def models_to_ask(sides: Sequence[ExpectedWork]) -> tuple[Endpoint, ...]:
    """Return the judges and model targets of the cases that a target has to answer."""
    found: dict[str, Endpoint] = {}
    for side in sides:
        for task in side.tasks:
            new = {name: each for each in _models(task) if (name := identity(each)) not in found}
            if new and _lacks_answer(side, task):
                found |= new
    return tuple(found.values())


async def ask_models(models: Sequence[Endpoint], context: RunContext) -> Usage | None:
    """Find out which models are unreachable, and return what that used.

    Return None on cancellation (Ctrl-C, SIGTERM).
    """
    if context.preflight is None:
        return NOTHING_USED
    try:
        asking = coroutines.gather_all(map(context.preflight, models))
        used = await Deadline(context.max_seconds, context.started).enforce(asking)
    except OverBudget:
        return NOTHING_USED  # each case has the reason
    except asyncio.CancelledError:
        return None
    return sum(used, NOTHING_USED)


def _models(task: Task) -> Iterator[Endpoint]:
    """Yield the judges that count and the model that answers, if the target may cost something."""
    if not task.case.evaluators:
        return
    if isinstance(task.target, LlmTarget):
        yield task.target.endpoint
    if isinstance(task.target, LlmTarget | CliTarget):
        judges = judges_of(task.case, task.judge)
        yield from (one for judge, spec in judges if spec.weight > 0 for one in judge.endpoints)


def _lacks_answer(side: ExpectedWork, task: Task) -> bool:
    start = side.context.trial
    numbers = range(start, start + task.trials(side.trials))
    return any(side.answer(task, number) is None for number in numbers)
