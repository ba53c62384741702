"""Grades what a run chose: the head, with `--against` the base as well, and the sentinel."""

from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any, TypeAlias

from rubric_ci.files.project.loaded_project import LoadedProject
from rubric_ci.gate.comparison.reference import Baseline
from rubric_ci.gate.comparison.rule import KEPT
from rubric_ci.gate.selection.affected_cases import Selection
from rubric_ci.grading.engine import grade
from rubric_ci.grading.resolve import Task, needs_judge
from rubric_ci.reports.progress import progress
from rubric_ci.services.expected_requests import ExpectedWork, ask_models
from rubric_ci.services.run.asking import Key
from rubric_ci.services.run.base_comparison import (
    Outcome,
    ask_suspects,
    compare,
    with_lone,
    without_base,
)
from rubric_ci.services.run.sentinel import Watch, grade_watched
from rubric_ci.services.run.sides import BaseSide, HeadOnly, Sides, open_base
from rubric_ci.system import coroutines
from rubric_ci.system.coroutines import run_until_terminated
from rubric_ci.values.changes import NoBase
from rubric_ci.values.command_settings import RunSettings
from rubric_ci.values.context import RunContext, Services
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.report import Sentinel
from rubric_ci.values.results import CaseResult
from rubric_ci.values.targets import Endpoint
from rubric_ci.values.usage import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInput:
    """The tasks of a run, the dependencies of their grading, and the side to compare with."""

    tasks: Sequence[Task]
    loaded: LoadedProject
    selection: Selection
    settings: RunSettings
    baseline: Baseline | None
    context: RunContext  # of the head
    plain: bool | None  # progress as lines; None: a bar at a terminal
    sides: Sides | NoBase | None = None  # of the change; None: without `--against`, or not open

    @property
    def both(self) -> Sides | None:
        """The two sides of the change; None: only the head is graded."""
        return self.sides if isinstance(self.sides, Sides) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedRun:
    outcome: Outcome
    sentinel: Sentinel | None
    spent: Usage


RunGrading: TypeAlias = Callable[[Coroutine[Any, Any, Outcome]], Outcome]
"""Runs the coroutine that grades both sides."""


@contextmanager
def open_sides(inputs: RunInput) -> Iterator[RunInput]:
    """Yield the input with both sides of the change.

    Nothing is requested. Where rubrics differ, what marks an answer a second time finds the folder
    that it was given in.
    """
    with open_base(inputs.tasks, inputs.loaded, inputs.settings) as base:
        if not isinstance(base, BaseSide):
            yield replace(inputs, sides=base)
            return
        with ExitStack() as folders:
            side = replace(inputs.context.side, is_compared=True)
            kept = folders if base.rubrics else None
            context = replace(inputs.context, side=side, folders=kept)
            tasks = base.marked_by_both(inputs.tasks)
            inputs = replace(inputs, tasks=tasks, context=context)
            head = _head_only(inputs)
            sides = Sides(
                base=base,
                trials=inputs.settings.trials,
                gate=inputs.loaded.config.gate,
                fresh=inputs.settings.cache.fresh,
                context=head.context,
                grade=head.grade,
                rows=head.rows,
                config=head.config,
                can_ask=head.can_ask,
                live=head.live,
            )
            yield replace(inputs, sides=sides)


def expected_work(inputs: RunInput) -> tuple[ExpectedWork, ...]:
    """Return the expected work of the head and the base, without further trials."""
    trials, sides = inputs.settings.trials, inputs.both
    head = ExpectedWork(tasks=inputs.tasks, context=inputs.context, trials=trials)
    if sides is None:
        return (head,)
    asked = [task for task in inputs.tasks if sides.asks_base(task)]
    base = ExpectedWork(
        tasks=[sides.base.tasks[task.case.key] for task in asked],
        context=sides.base_context,
        trials=trials,
        name="base ",
    )
    return head, base


def grade_run(
    inputs: RunInput, models: Sequence[Endpoint] = (), run: RunGrading = coroutines.run
) -> GradedRun:
    """Grade the cases on both sides and show progress; return the finished ones if interrupted.

    `models` are asked first, to find out which of them are unreachable. `run` runs the coroutine.
    """
    allowance = replace(inputs.context.allowance, started=monotonic())
    inputs = replace(inputs, context=replace(inputs.context, allowance=allowance))
    settings, watch = inputs.settings, watch_of(inputs)
    required, before = _required(inputs), allowance.spent()
    with (
        _ending(inputs.context.services),
        progress(len(inputs.tasks), plain=inputs.plain, quiet=settings.report.quiet) as advance,
    ):
        work = _preflight_and_compare(
            inputs, models, watch, lambda case: advance(_ended(case, required))
        )
        outcome = run(run_until_terminated(work))
    results = tuple(_ended(case, required) for case in outcome.results)
    outcome = replace(outcome, results=results)
    spent = allowance.spent().beyond(before)
    return GradedRun(outcome=outcome, sentinel=watch.seen, spent=spent)


@contextmanager
def _ending(services: Services | None) -> Iterator[None]:
    """End the services that a run started, also after Ctrl-C."""
    try:
        yield
    finally:
        if services is not None:
            services.close()


async def _preflight_and_compare(
    inputs: RunInput,
    models: Sequence[Endpoint],
    watch: Watch,
    on_result: Callable[[CaseResult], None],
) -> Outcome:
    head: tuple[CaseResult, ...] = ()
    base: dict[Key, CaseResult] = {}
    if await ask_models(models, inputs.context.allowance):
        grading = partial(_first_round, inputs, on_result, base)
        head = await grade_watched(grading, watch, inputs.tasks, inputs.context)
    return await _compared(inputs, head, base, watch)


async def _first_round(
    inputs: RunInput, on_result: Callable[[CaseResult], None], base: dict[Key, CaseResult]
) -> tuple[CaseResult, ...]:
    """Grade both sides in turn, so that what moves during the run meets both; fill `base`.

    The results are fewer than tasks if the run was interrupted.
    """
    tasks: list[Task] = []
    contexts: list[RunContext] = []
    sides = inputs.both
    for task in inputs.tasks:
        tasks.append(task)
        contexts.append(inputs.context)
        if sides and (then := sides.first_task(task)):
            tasks.append(then)
            contexts.append(sides.context_of(then))

    def shown(place: int, result: CaseResult) -> None:
        if contexts[place] is inputs.context:
            on_result(result)

    results = await _graded(
        inputs, tasks, contexts, inputs.settings.trials, shown, inputs.settings.max_failures
    )
    own = [r for c, r in zip(contexts, results, strict=True) if r and c is inputs.context]
    if sides:
        there = [r for c, r in zip(contexts, results, strict=True) if r and c is not inputs.context]
        keys = {task.case.key: key for key, task in sides.base.tasks.items()}
        base.update({keys[each.key]: each for each in there})
        if len(own) < len(inputs.tasks):
            base.update(await _base_of_failures(inputs, sides, own, base))
    return tuple(own)


async def _base_of_failures(
    inputs: RunInput, sides: Sides, head: Sequence[CaseResult], base: Mapping[Key, CaseResult]
) -> Mapping[Key, CaseResult]:
    """Return the base of the cases that were graded before `--max-failures` stopped the run."""
    by_key = {task.case.key: task for task in inputs.tasks}
    lacking = {
        case.key: then
        for case in head
        if case.key not in base and (then := sides.first_task(by_key[case.key]))
    }
    contexts = [sides.context_of(task) for task in lacking.values()]
    results = await sides.graded(list(lacking.values()), contexts, sides.trials)
    return {key: result for key, result in zip(lacking, results, strict=True) if result}


async def _graded(
    inputs: RunInput,
    tasks: Sequence[Task],
    contexts: Sequence[RunContext],
    trials: int,
    on_result: Callable[[int, CaseResult], None] = lambda _, __: None,
    stop_after: int | None = None,
) -> Sequence[CaseResult | None]:
    """Return the results in the order of the tasks; None where the run was interrupted."""
    found: list[CaseResult | None] = [None] * len(tasks)

    def collect(place: int, result: CaseResult) -> None:
        found[place] = result
        on_result(place, result)

    await grade(
        tasks,
        contexts,
        concurrency=inputs.settings.requests.concurrency,
        on_result=collect,
        trials=trials,
        batched=inputs.settings.requests.batch and inputs.settings.requests.live,
        stop_after=stop_after,
    )
    return found


async def _compared(
    inputs: RunInput, head: Sequence[CaseResult], base: Mapping[Key, CaseResult], watch: Watch
) -> Outcome:
    ref = inputs.settings.select.against
    match inputs.sides:
        case Sides() as sides:
            return await compare(sides, ref, inputs.tasks, head, base)
        case NoBase(reason=reason):
            found = without_base(reason, ref, head)
        case None:
            found = Outcome(results=tuple(head))
    if inputs.sides is None and (inputs.baseline is None or (watch.seen and watch.seen.moved)):
        return found
    asker = _head_only(inputs)
    by_key = {task.case.key: task for task in inputs.tasks}
    if inputs.baseline:
        results = await ask_suspects(asker, inputs.baseline.report, by_key, found.results)
        return replace(found, results=results)
    return replace(found, results=await with_lone(asker, by_key, found.results))


def needs_fresh_judgements(settings: RunSettings, baseline: Baseline | None) -> bool:
    """Return True if no cached judgement is used: in a night, and in a run for a reference.

    Answers that share a judgement are not independent. And the sentinel vouches for the present
    judge only: a cached judgement may be older than a move.
    """
    if not settings.requests.live:
        return False
    if baseline and (baseline.report.sentinel or baseline.log):
        return True
    path = settings.report.baseline
    # The trials of a reference, and the first night of a folder of nights.
    return is_folder(path) and (settings.trials >= KEPT or not (path and path.exists()))


def is_folder(baseline: Path | None) -> bool:
    """Return True for the folder of a reference, which need not exist yet."""
    return baseline is not None and not baseline.suffix


def watch_of(inputs: RunInput) -> Watch:
    """Return the judgements to ask for again: the reference's, or new items."""
    settings, baseline = inputs.settings, inputs.baseline
    live = settings.requests.live and not settings.requests.batch
    judged = live and any(needs_judge(task.case) for task in inputs.tasks)
    remembered = baseline.report.sentinel if baseline and judged else None
    return Watch(
        remembered=remembered,
        measures=judged and remembered is None and is_folder(settings.report.baseline),
        concurrency=settings.requests.concurrency,
    )


def _head_only(inputs: RunInput) -> HeadOnly:
    return HeadOnly(
        context=inputs.context,
        grade=partial(_graded, inputs),
        rows=inputs.selection.rows,
        config=inputs.loaded.config.regression,
        can_ask=not inputs.settings.requests.offline,
        live=inputs.settings.requests.live,
    )


def _required(inputs: RunInput) -> frozenset[tuple[str, str]]:
    """Return the cases that may not be skipped."""
    gate = inputs.loaded.config.gate
    return frozenset(
        task.case.key
        for task in inputs.tasks
        if not task.not_graded
        if gate.require_verdict or (gate.require_rubrics and not task.case.evaluators)
    )


def _ended(case: CaseResult, required: frozenset[tuple[str, str]]) -> CaseResult:
    """Return the result; a required case that was skipped is errored."""
    ended = case.verdict is not None or case.key not in required
    return case if ended else case.as_errored(case.reason)
