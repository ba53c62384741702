"""The requests and the cost that a run may have, shown before its first request."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from rubric_ci.grading import case_list
from rubric_ci.grading.cost_estimate import JudgeEstimate, estimate_cost, estimate_lines, total
from rubric_ci.grading.expected_work import ExpectedWork
from rubric_ci.grading.task import Task
from rubric_ci.model.config import LlmTarget
from rubric_ci.model.git_changes import NoBase
from rubric_ci.run.base_side import Key
from rubric_ci.run.confirmation import most_further_trials, once
from rubric_ci.run.grade import RunInput, becomes_reference, without_models
from rubric_ci.run.sides import Sides
from rubric_ci.text import numbers

_HALF: Final = 2  # both questions of a suspect share the budget of false alarms


def estimate(work: Sequence[ExpectedWork], inputs: RunInput) -> Sequence[JudgeEstimate]:
    """Return the expected judge requests of both sides, without further trials."""
    settings = inputs.settings
    return () if without_models(settings) else estimate_cost(work, batched=settings.batch)


def lines(
    work: Sequence[ExpectedWork],
    sides: Sides | NoBase | None,
    expected: Sequence[JudgeEstimate],
    inputs: RunInput,
) -> Iterator[str]:
    """Yield a line per target and judge that is requested, and one on suspects."""
    if not without_models(inputs.settings):
        for side in work:
            yield from case_list.request_lines(side)
    yield from estimate_lines(expected)
    if becomes_reference(inputs):
        yield (
            f"every case is answered and judged {inputs.settings.trials} times, to become the "
            "reference; later nights need fewer trials"
        )
    yield from confirmation(sides, inputs)


def confirmation(sides: Sides | NoBase | None, inputs: RunInput) -> Iterator[str]:
    """Yield how many more requests confirm suspected breaks, if every case is a suspect."""
    if not isinstance(sides, Sides):
        return
    work = _if_all_are_suspects(sides, inputs)
    judged = total(estimate_cost(work, preflight=False))
    answers = sum(
        side.trials for side in work for task in side.tasks if isinstance(task.target, LlmTarget)
    )
    requests = answers + (judged.requests if judged else 0)
    if not requests:
        return
    cost = "price unknown"
    if judged and judged.cost_usd is not None:
        cost = numbers.dollars(judged.cost_usd) + (" without the answers" if answers else "")
    yield (
        f"up to {numbers.plural(requests, 'more request')} to confirm suspected breaks "
        f"on both sides, {cost}"
    )


def _if_all_are_suspects(sides: Sides, inputs: RunInput) -> tuple[ExpectedWork, ...]:
    """Return the further trials of both sides; also under the base's rubrics where they differ."""
    asked = [task for task in inputs.tasks if task.case.evaluators and sides.asks_base(task)]
    rubrics = sides.base.rubrics
    changed = [task for task in asked if _key(task) in rubrics]
    if changed:
        config = replace(sides.config, false_alarms=sides.config.false_alarms / _HALF)
        sides = replace(sides, config=config)
    more = most_further_trials(asked, sides)
    again = [
        replace(task, case=replace(task.case, evaluators=rubrics[_key(task)].evaluators))
        for task in changed
    ]
    most = most_further_trials(again, sides)
    first = max((task.trials(sides.trials) for task in changed), default=0)
    # NOTE: the caches are not asked; a further trial is seldom in them.
    context = replace(inputs.context, cache=None)
    here = ExpectedWork(tasks=[once(task) for task in asked], context=context, trials=more)
    there = ExpectedWork(tasks=[once(task) for task in again], context=context, trials=most + first)
    return (here, here, there, there)


def _key(task: Task) -> Key:
    return task.case.file, task.case.id
