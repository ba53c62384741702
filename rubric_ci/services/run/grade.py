"""Grades what a run chose: the head, with `--against` the base as well, and the sentinel."""

from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from time import monotonic
from typing import Any, TypeAlias

from rubric_ci.files.project.loaded_project import LoadedProject
from rubric_ci.gate.comparison import alarm_budget, reference
from rubric_ci.gate.comparison.compared import counterparts
from rubric_ci.gate.comparison.reference import Baseline
from rubric_ci.gate.selection.compare_cases import Selection
from rubric_ci.grading.engine import grade
from rubric_ci.grading.resolve import Task, needs_judge
from rubric_ci.parts.lab.calibration.sentinel import Watch, grade_watched
from rubric_ci.reports.render.progress import progress
from rubric_ci.services.cost.expected_requests import ExpectedWork, ask_models
from rubric_ci.services.run.base_comparison import Outcome, compare
from rubric_ci.services.run.sides import BaseSide, Sides, open_base
from rubric_ci.system import coroutines
from rubric_ci.system.coroutines import run_until_terminated
from rubric_ci.values.changes import NoBase
from rubric_ci.values.command_settings import RunSettings
from rubric_ci.values.comparison import RegressionConfig, Sentinel
from rubric_ci.values.config import Config, Endpoint
from rubric_ci.values.context import RunContext
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.results import CaseResult, Errored, Skipped
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


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedRun:
    """The results, the judge's marks for the sentinel, and all usage."""

    outcome: Outcome
    sentinel: Sentinel | None
    spent: Usage


RunGrading: TypeAlias = Callable[[Coroutine[Any, Any, Outcome]], Outcome]
"""Runs the coroutine that grades both sides."""


@contextmanager
def open_sides(inputs: RunInput) -> Iterator[tuple[RunInput, Sides | NoBase | None]]:
    """Yield the input and both sides of the change, None without `--against`.

    Nothing is requested. Where rubrics differ, what marks an answer a second time finds the folder
    that it was given in.
    """
    with open_base(inputs.tasks, inputs.loaded, inputs.settings) as base:
        if not isinstance(base, BaseSide):
            yield inputs, base
            return
        with ExitStack() as folders:
            context = replace(inputs.context, folders=folders if base.rubrics else None)
            tasks = base.marked_by_both(inputs.tasks)
            inputs = replace(inputs, tasks=tasks, context=context)
            yield inputs, _sides(base, inputs)


def expected_work(inputs: RunInput, sides: Sides | NoBase | None) -> tuple[ExpectedWork, ...]:
    """Return the expected work of the head and the base, without further trials."""
    trials = inputs.settings.trials
    head = ExpectedWork(tasks=inputs.tasks, context=inputs.context, trials=trials)
    if not isinstance(sides, Sides):
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
    inputs: RunInput,
    sides: Sides | NoBase | None,
    models: Sequence[Endpoint] = (),
    run: RunGrading = coroutines.run,
) -> GradedRun:
    """Grade the cases on both sides and show progress; return the finished ones if interrupted.

    `models` are asked first, to find out which of them are unreachable. `run` runs the coroutine.
    """
    inputs = replace(inputs, context=replace(inputs.context, started=monotonic()))
    settings, watch = inputs.settings, watch_of(inputs)
    required, before = _required(inputs), inputs.context.spent()
    with progress(len(inputs.tasks), plain=inputs.plain, quiet=settings.quiet) as advance:
        grading = partial(_graded, inputs, watch, lambda case: advance(_ended(case, required)))
        work = _preflight_and_compare(inputs, sides, models, grading)
        outcome = run(run_until_terminated(work))
    results = tuple(_ended(case, required) for case in outcome.results)
    outcome = replace(outcome, results=results)
    spent = inputs.context.spent().beyond(before)
    return GradedRun(outcome=outcome, sentinel=watch.seen, spent=spent)


async def _preflight_and_compare(
    inputs: RunInput,
    sides: Sides | NoBase | None,
    models: Sequence[Endpoint],
    grading: Callable[[], Awaitable[tuple[CaseResult, ...]]],
) -> Outcome:
    head = grading() if await ask_models(models, inputs.context) else _nothing()
    return await compare(sides, inputs.settings.against, inputs.tasks, head)


async def _nothing() -> tuple[CaseResult, ...]:
    return ()


def _graded(
    inputs: RunInput, watch: Watch, on_result: Callable[[CaseResult], None]
) -> Awaitable[tuple[CaseResult, ...]]:
    """Return the grading of the head, and of the sentinel's answers."""
    tasks, settings = inputs.tasks, inputs.settings
    further_trials = _further_trials(inputs)
    graded = partial(
        grade,
        tasks,
        inputs.context,
        concurrency=settings.requests.concurrency,
        on_result=on_result,
        trials=settings.trials,
        batched=_is_batched(settings),
        stop_after=settings.max_failures,
    )
    return grade_watched(
        lambda moved: graded(further_trials=_none_further if moved else further_trials),
        watch,
        tasks,
        inputs.context,
    )


def needs_fresh_judgements(
    settings: RunSettings, baseline: Baseline | None, config: Config
) -> bool:
    """Return True if no cached judgement is used: in a night, and in a run for a reference.

    Trials that share a judgement are not independent, as the tests need them. And the sentinel
    vouches for the present judge only: a cached judgement may be older than a move.
    """
    if without_models(settings):
        return False
    if baseline and (baseline.report.sentinel or baseline.is_reference(config.regression)):
        return True
    return _may_become_reference(settings, config.regression)


def becomes_reference(inputs: RunInput) -> bool:
    """Return True if a run with a folder of nights has the trials of a reference."""
    settings, config = inputs.settings, inputs.loaded.config.regression
    enough = settings.trials >= config.reference_trials > 1
    return enough and not without_models(settings) and settings.baseline is not None


def compares_with_reference(inputs: RunInput) -> bool:
    """Return True if suspects get further trials, as the baseline is a reference."""
    config, baseline = inputs.loaded.config.regression, inputs.baseline
    asks = baseline is not None and not without_models(inputs.settings)
    return asks and baseline is not None and baseline.is_reference(config)


def _may_become_reference(settings: RunSettings, config: RegressionConfig) -> bool:
    """Return True for the trials of a reference, and for the first night of a folder of nights."""
    folder = settings.baseline if config.reference_trials > 1 else None
    first = folder is not None and not folder.suffix and not folder.exists()
    return first or settings.trials >= config.reference_trials > 1


def watch_of(inputs: RunInput) -> Watch:
    """Return the judgements to ask for again: the reference's, or new items."""
    settings, baseline = inputs.settings, inputs.baseline
    config = inputs.loaded.config.regression
    live = not (without_models(settings) or settings.batch)
    judged = live and any(needs_judge(task.case) for task in inputs.tasks)
    remembered = baseline.report.sentinel if baseline and judged else None
    return Watch(
        remembered=remembered,
        measures=judged and remembered is None and _may_become_reference(settings, config),
        concurrency=settings.requests.concurrency,
    )


def _sides(base: BaseSide, inputs: RunInput) -> Sides:
    settings = inputs.settings

    def grade_again(
        tasks: Sequence[Task], context: RunContext, trials: int
    ) -> Awaitable[tuple[CaseResult, ...]]:
        concurrency, batched = settings.requests.concurrency, _is_batched(settings)
        return grade(tasks, context, concurrency=concurrency, trials=trials, batched=batched)

    return Sides(
        base=base,
        context=inputs.context,
        grade=grade_again,
        trials=settings.trials,
        config=inputs.loaded.config.regression,
        gate=inputs.loaded.config.gate,
        can_ask=not without_models(settings),
        fresh=settings.fresh,
    )


def _further_trials(inputs: RunInput) -> Callable[[CaseResult], int]:
    """Return the number of further trials of a case; 0 unless the baseline is a reference."""
    baseline, config = inputs.baseline, inputs.loaded.config.regression
    if baseline is None or not compares_with_reference(inputs):
        return _none_further
    matched = counterparts((task.case.key for task in inputs.tasks), baseline.report.cases)

    before = reference.worse_before(baseline.log) if baseline.log else frozenset()

    def further_trials(result: CaseResult) -> int:
        key = result.key
        return alarm_budget.further_trials(
            result, matched.get(key), config, worse_before=key in before
        )

    return further_trials


def _none_further(_: CaseResult) -> int:
    return 0


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
    if not isinstance(case, Skipped) or case.key not in required:
        return case
    return Errored(
        file=case.file,
        line=case.line,
        id=case.id,
        reason=case.reason,
        why=case.why,
        question=case.question,
        expected_outcome=case.expected_outcome,
        change=case.change,
        change_reason=case.change_reason,
    )


def _is_batched(settings: RunSettings) -> bool:
    return settings.batch and not without_models(settings)


def without_models(settings: RunSettings) -> bool:
    """Return True if no model request can be sent: replaying or offline."""
    return bool(settings.requests.replay) or settings.offline
