"""Ask the judge for remembered judgements again, past the cache."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from rubric_ci.calibration import sentinel
from rubric_ci.calibration.rejudge import RECORDED_ANSWER_TARGET
from rubric_ci.grading.engine import grade
from rubric_ci.grading.task import Task
from rubric_ci.model.context import RunContext
from rubric_ci.model.evals import RubricSpec
from rubric_ci.model.mark_value import MarkValue
from rubric_ci.model.results import Assessed, CaseResult, Graded
from rubric_ci.model.sentinel import Sentinel, SentinelItem


@dataclass(slots=True, kw_only=True)
class Watch:
    """What a run asks the judge for again, and what that showed."""

    remembered: Sentinel | None  # of the reference
    measures: bool  # the run may become a reference, and chooses what to remember
    concurrency: int
    seen: Sentinel | None = None  # set by `grade_watched`; None: nothing was asked


async def grade_watched(
    grading: Callable[[bool], Awaitable[tuple[CaseResult, ...]]],
    watch: Watch,
    tasks: Sequence[Task],
    context: RunContext,
) -> tuple[CaseResult, ...]:
    """Grade, and ask for the remembered judgements before, or for new ones after it.

    `grading` receives whether the judge moved. If it did, all cached judgements are deleted: they
    are of the earlier judge.
    """
    if watch.remembered:
        watch.seen = await check(watch.remembered, tasks, context, watch.concurrency)
    moved = watch.seen is not None and watch.seen.moved
    if moved and context.cache:
        context.cache.clear()
    results = await grading(moved)
    if watch.measures and len(results) == len(tasks):
        watch.seen = await measure(results, tasks, context, watch.concurrency)
    return results


async def check(
    remembered: Sentinel, tasks: Sequence[Task], context: RunContext, concurrency: int
) -> Sentinel:
    """Ask for each remembered judgement again; return what the marks show.

    Items whose case or criterion changed since are left out.
    """
    marks = await _ask(remembered.items, tasks, context, concurrency, sentinel.REQUESTS)
    pairs = zip(remembered.items, marks, strict=True)
    return sentinel.conclude([replace(item, now=now) for item, now in pairs if now])


async def measure(
    results: Sequence[CaseResult], tasks: Sequence[Task], context: RunContext, concurrency: int
) -> Sentinel:
    """Choose judgements to remember, and ask for each several times."""
    items = sentinel.choose(results)
    marks = await _ask(items, tasks, context, concurrency, sentinel.REPEATS)
    pairs = zip(items, marks, strict=True)
    return Sentinel(items=tuple(replace(item, repeats=repeats) for item, repeats in pairs))


async def _ask(
    items: Sequence[SentinelItem],
    tasks: Sequence[Task],
    context: RunContext,
    concurrency: int,
    times: int,
) -> list[tuple[MarkValue, ...]]:
    """Return the marks of each item; fewer than `times` where the judge failed."""
    by_case = {(task.case.file, task.case.id): task for task in tasks}
    found = [(n, _task(item, by_case.get((item.file, item.id)))) for n, item in enumerate(items)]
    asked = [(n, task) for n, task in found if task for _ in range(times)]
    uncached = replace(context, cache=None)
    graded = await grade([task for _, task in asked], uncached, concurrency=concurrency)
    if len(graded) < len(asked):
        raise KeyboardInterrupt
    marks: list[list[MarkValue]] = [[] for _ in items]
    for (n, _), result in zip(asked, graded, strict=True):
        marks[n].extend(_mark(items[n], result))
    return [tuple(each) for each in marks]


def _task(item: SentinelItem, task: Task | None) -> Task | None:
    """Return the task of judging the remembered answer; None if the evaluator is gone."""
    for spec in task.case.evaluators if task else ():
        if task and isinstance(spec, RubricSpec) and spec.name == item.evaluator:
            return Task(
                case=replace(task.case, evaluators=(replace(spec, weight=1.0),), trials=None),
                target=replace(RECORDED_ANSWER_TARGET, response=item.answer),
                judge=task.judge,
            )
    return None


def _mark(item: SentinelItem, result: CaseResult) -> list[MarkValue]:
    for each in result.evaluators if isinstance(result, Graded) else ():
        for criterion in each.criteria if isinstance(each, Assessed) else ():
            if (criterion.id, criterion.text) == (item.criterion, item.text):
                return [criterion.mark]
    return []
