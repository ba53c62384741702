"""The test of a moved judge: remembered marks, asked for again and compared."""

import hashlib
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence, Set
from dataclasses import replace
from math import comb
from typing import Final, TypeAlias

from rubric_ci.grading.engine import grade
from rubric_ci.grading.resolve import Task, given
from rubric_ci.values.answers import answer_of
from rubric_ci.values.context import RunContext
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.evals import RubricSpec
from rubric_ci.values.media import answer_pictures
from rubric_ci.values.report import RunReport, Sentinel, SentinelItem
from rubric_ci.values.results import Answer, Assessed, CaseResult, with_verdict
from rubric_ci.values.scoring import ASSERTION, MarkValue

Name: TypeAlias = tuple[str, str, str, str]
"""File and id of the case, evaluator, criterion."""

ITEMS: Final = 20  # kept answers, a mark of each; of few cases several marks of an answer
REPEATS: Final = 5
"""Requests per item when the reference is measured: how much the judge differs from itself."""
LEVEL: Final = 0.01
"""Probability per run that a judge that is the same counts as moved."""


def choose(cases: Sequence[CaseResult], known: Set[Name] | None = None) -> tuple[SentinelItem, ...]:
    """Return at most `ITEMS` marks, spread over kinds of marks, criteria and cases.

    Answers with images are left out: a reference keeps no images to show again.

    The rarest combination so far is taken first; a digest decides between equal ones, so that the
    choice depends on the cases only. With `known`, it is among these.
    """
    every = (pair for pair in _candidates(cases) if known is None or _name(pair[1]) in known)
    left = sorted(
        every, key=lambda pair: hashlib.sha256("\n".join(_name(pair[1])).encode()).hexdigest()
    )
    chosen: list[tuple[str, SentinelItem]] = []
    while left and len(chosen) < ITEMS:
        best = min(left, key=lambda pair: _common(pair, chosen))
        chosen.append(best)
        left.remove(best)
    return tuple(item for _, item in chosen)


def requests_of(remembered: Sentinel) -> int:
    """Return the requests per item of a night; few items are asked for twice."""
    return 1 if 2 * len(remembered.items) >= ITEMS else 2


def conclude(items: Sequence[SentinelItem]) -> Sentinel:
    """Return whether the marks of this run differ more than the repeats did.

    Fisher's exact test, one-sided: given how many of all requests differ from the remembered mark,
    the probability that as many of them are of this run (hypergeometric). Remembered mark, repeats
    and new marks of an item are exchangeable if the judge is the same.
    """
    found = Sentinel(items=_in_order(items))
    (before, repeats), (differing, requests) = found.repeated, found.asked
    if not repeats or not requests:
        return found
    p_value = _tail(differing, requests, before + differing, repeats + requests)
    return replace(found, p_value=p_value, moved=p_value <= LEVEL)


def with_merged_sentinel(report: RunReport, shards: Sequence[RunReport]) -> RunReport:
    """Return the report of merged shards with the items of all of them.

    Of items that were remembered, all count; of those that the shards measured, the ones that the
    whole run would have chosen, as far as a shard measured them.
    """
    items = [item for each in shards if each.sentinel for item in each.sentinel.items]
    if not items:
        return replace(report, sentinel=None)
    if any(item.now for item in items):
        return replace(report, sentinel=conclude(items))
    known = {_name(item): item for item in items}
    chosen = choose(report.cases, known.keys())
    return replace(report, sentinel=Sentinel(items=_in_order(known[_name(i)] for i in chosen)))


def _in_order(items: Iterable[SentinelItem]) -> tuple[SentinelItem, ...]:
    return tuple(sorted(items, key=_name))


def _tail(least: int, drawn: int, marked: int, total: int) -> float:
    """Return the probability of `least` or more marked ones among `drawn` of `total`."""
    ways = (
        comb(marked, k) * comb(total - marked, drawn - k)
        for k in range(least, min(drawn, marked) + 1)
    )
    return sum(ways) / comb(total, drawn)


def _candidates(cases: Sequence[CaseResult]) -> Iterator[tuple[str, SentinelItem]]:
    """Yield the kind and the item of each criterion that a judge marked."""
    for case in with_verdict(cases):
        if answer_pictures(case.media):  # it cannot be shown again
            continue
        for result in case.evaluators:
            if isinstance(result, Assessed) and result.judge and result.weight > 0:
                for criterion in (c for c in result.criteria if c.kind != ASSERTION):
                    item = SentinelItem(
                        file=case.file,
                        id=case.id,
                        evaluator=result.name,
                        criterion=criterion.id,
                        text=criterion.text,
                        answer=case.answer,
                        mark=criterion.mark,
                    )
                    yield criterion.kind, item


def _common(
    pair: tuple[str, SentinelItem], chosen: Sequence[tuple[str, SentinelItem]]
) -> tuple[int, int, int]:
    """Return how many of the chosen ones have the same answer, the same mark, the same text."""
    kind, item = pair
    return (
        sum((other.file, other.id) == (item.file, item.id) for _, other in chosen),
        sum((k, str(other.mark)) == (kind, str(item.mark)) for k, other in chosen),
        sum(other.text == item.text for _, other in chosen),
    )


def _name(item: SentinelItem) -> Name:
    return item.file, item.id, item.evaluator, item.criterion


@dataclass(slots=True, kw_only=True)
class Watch:
    """The judgements that a run asks for again, and the result."""

    remembered: Sentinel | None  # of the reference
    measures: bool  # the run may become a reference, and chooses what to remember
    concurrency: int
    seen: Sentinel | None = None  # set by `grade_watched`; None: nothing was asked


async def grade_watched(
    grading: Callable[[], Awaitable[tuple[CaseResult, ...]]],
    watch: Watch,
    tasks: Sequence[Task],
    context: RunContext,
) -> tuple[CaseResult, ...]:
    """Grade, and ask for the remembered judgements before, or for new ones after it.

    If the judge moved, all cached judgements are deleted: they are of the earlier one.
    """
    if watch.remembered:
        watch.seen = await check(watch.remembered, tasks, context, watch.concurrency)
    if watch.seen and watch.seen.moved and context.cache:
        context.cache.clear()
    results = await grading()
    if watch.measures and len(results) == len(tasks):
        watch.seen = await measure(results, tasks, context, watch.concurrency)
    return results


def expected(watch: Watch, tasks: Sequence[Task]) -> list[Task]:
    """Return the tasks that the judge will mark again, once per request.

    New items are chosen from the results. Their number is known before: as many as there are
    judged criteria, up to `ITEMS`.
    """
    if watch.remembered:
        by_case = {task.case.key: task for task in tasks}
        found = (_task(item, by_case.get((item.file, item.id))) for item in watch.remembered.items)
        return [task for task in found if task] * requests_of(watch.remembered)
    return measured_tasks(tasks) if watch.measures else []


def measured_tasks(tasks: Iterable[Task]) -> list[Task]:
    """Return the tasks that a new sentinel marks, once per request."""
    return list(_first_items(tasks))[:ITEMS] * REPEATS


def _first_items(tasks: Iterable[Task]) -> Iterator[Task]:
    """Yield a task per judged criterion, one criterion of each rubric after the other."""
    rubrics = [
        (task, spec)
        for task in tasks
        for spec in task.case.evaluators
        if isinstance(spec, RubricSpec) and spec.weight > 0 and spec.rubric.judged
    ]
    for place in range(max((len(spec.rubric.judged) for _, spec in rubrics), default=0)):
        for task, spec in rubrics:
            if place < len(spec.rubric.judged):
                yield _of_spec(task, spec, Answer(text=""))


async def check(
    remembered: Sentinel, tasks: Sequence[Task], context: RunContext, concurrency: int
) -> Sentinel:
    """Ask for each remembered judgement again; return what the marks show.

    Items whose case or criterion changed since are left out.
    """
    marks = await _ask(remembered.items, tasks, context, concurrency, requests_of(remembered))
    pairs = zip(remembered.items, marks, strict=True)
    return conclude([replace(item, now=now) for item, now in pairs if now])


async def measure(
    results: Sequence[CaseResult], tasks: Sequence[Task], context: RunContext, concurrency: int
) -> Sentinel:
    """Choose judgements to remember, and ask for each several times."""
    items = [_with_work(item, results, tasks) for item in choose(results)]
    marks = await _ask(items, tasks, context, concurrency, REPEATS)
    pairs = zip(items, marks, strict=True)
    return Sentinel(items=_in_order(replace(item, repeats=repeats) for item, repeats in pairs))


async def _ask(
    items: Sequence[SentinelItem],
    tasks: Sequence[Task],
    context: RunContext,
    concurrency: int,
    times: int,
) -> list[tuple[MarkValue, ...]]:
    """Return the marks of each item; fewer than `times` where the judge failed."""
    by_case = {task.case.key: task for task in tasks}
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


def _with_work(
    item: SentinelItem, results: Sequence[CaseResult], tasks: Sequence[Task]
) -> SentinelItem:
    """Return the item with the work of its answer, if the judge sees that."""
    key = item.file, item.id
    case = next((one for one in with_verdict(results) if one.key == key), None)
    specs = (spec for task in tasks if task.case.key == key for spec in task.case.rubrics)
    sees = [spec.sees for spec in specs if spec.name == item.evaluator]
    if case is None or sees[:1] in ([], [("answer",)]):
        return item
    return replace(item, trace=case.trace, file_changes=case.file_changes)


def _task(item: SentinelItem, task: Task | None) -> Task | None:
    """Return the task of judging the remembered answer; None if the evaluator is gone."""
    for spec in task.case.evaluators if task else ():
        if task and isinstance(spec, RubricSpec) and spec.name == item.evaluator:
            return _of_spec(task, spec, answer_of(item))
    return None


def _of_spec(task: Task, spec: RubricSpec, answer: Answer) -> Task:
    return Task(
        case=replace(task.case, evaluators=(replace(spec, weight=1.0),), trials=None),
        target=given(answer),
        judge=task.judge,
    )


def _mark(item: SentinelItem, result: CaseResult) -> list[MarkValue]:
    for each in result.evaluators if result.verdict else ():
        for criterion in each.criteria if isinstance(each, Assessed) else ():
            if (criterion.id, criterion.text) == (item.criterion, item.text):
                return [criterion.mark]
    return []
