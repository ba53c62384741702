"""Grades cases within the concurrency limits; results keep the order of the files."""

import asyncio
import traceback
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, closing
from dataclasses import field, replace
from pathlib import Path
from time import perf_counter
from typing import TypeVar

from rubric_ci.errors import (
    CannotAnswer,
    CannotReachModel,
    CannotRunScript,
    NotCached,
    NoVerdict,
    UserError,
)
from rubric_ci.evaluators.evaluate import evaluate, unassessed
from rubric_ci.evaluators.judge_choice import judge_if_any
from rubric_ci.evaluators.rubric import for_judges
from rubric_ci.grading import targets
from rubric_ci.grading.limits import ConcurrencyLimits, Deadline
from rubric_ci.grading.outcome import concluded, errored, nothing_to_grade, skipped
from rubric_ci.grading.resolve import Task
from rubric_ci.grading.targets import answer_cache, command
from rubric_ci.grading.targets.command import HealthChecks
from rubric_ci.grading.targets.workplace import Workplaces
from rubric_ci.system import coroutines
from rubric_ci.values.config import JudgeConfig
from rubric_ci.values.context import RunContext, by_judge
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.evals import EvalCase, EvaluatorSpec, every_evaluator
from rubric_ci.values.results import Answer, CaseResult, EvaluatorResult
from rubric_ci.values.trials import median_trial
from rubric_ci.values.usage import NOTHING_USED, Usage

T = TypeVar("T")


async def grade(
    tasks: Sequence[Task],
    context: RunContext | Sequence[RunContext],
    *,
    concurrency: int,
    on_result: Callable[[int, CaseResult], None] = lambda _, __: None,
    trials: int = 1,
    batched: bool = False,
    stop_after: int | None = None,
) -> tuple[CaseResult, ...]:
    """Grade every case and return the results in the order of the tasks.

    `context` is one for all tasks, or one for each. Each case is answered and graded `trials` times
    from its context's trial on; its result is the median trial. `on_result` gets the place of the
    task and its result. `batched`: model requests are sent in batches, and no answer is assessed
    before all are there. At the time limit of the context, running cases are errored. On
    cancellation (Ctrl-C), and after `stop_after` cases that fail or have no verdict, there are
    fewer results than tasks.
    """
    contexts = [context] * len(tasks) if isinstance(context, RunContext) else context
    graded = [task for task in tasks if task.case.evaluators]
    answers = sum(task.trials(trials) for task in graded) if batched else None
    limits = ConcurrencyLimits([t.target for t in tasks], concurrency, batched_answers=answers)
    workplaces = Workplaces()
    runs = {
        is_base: _Run(
            limits=limits, workplaces=workplaces, trials=trials, deadline=_deadline(contexts)
        )
        for is_base in (False, True)
    }
    failures = _FailureLimit(stop_after)
    own = by_judge()

    async def one(place: int, task: Task) -> CaseResult:
        context = contexts[place]
        result = await _case(task, own(context, task.judge), runs[context.side.is_base])
        on_result(place, result)
        if not context.side.is_base:
            failures.count(result)
        return result

    with closing(workplaces):
        works = (one(place, task) for place, task in enumerate(tasks))
        results = await coroutines.gather_until_cancelled(works)
    failures.end()
    return results


class _FailureLimit:
    """Cancels the run when as many cases as allowed fail or have no verdict."""

    def __init__(self, most: int | None) -> None:
        self._left = most
        self._run = asyncio.current_task()

    def count(self, result: CaseResult) -> None:
        if self._left is None or not is_failure(result):
            return
        self._left -= 1
        if self._left == 0 and self._run:
            self._run.cancel()

    def end(self) -> None:
        """Let what comes after the cases run, unless Ctrl-C or SIGTERM stopped them as well."""
        if self._left is not None and self._left <= 0 and self._run:
            self._run.uncancel()


def is_failure(result: CaseResult) -> bool:
    return result.status in {"errored", "fail"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """The state that all cases of one side share; limits and folders are of the whole run."""

    limits: ConcurrencyLimits
    health: HealthChecks = field(default_factory=HealthChecks)
    workplaces: Workplaces
    trials: int
    deadline: Deadline


def _deadline(contexts: Sequence[RunContext]) -> Deadline:
    """Return the time limit, which is the same for both sides."""
    first = next(iter(contexts), None)
    return (
        Deadline(first.allowance.max_seconds, first.allowance.started)
        if first
        else Deadline(None, None)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Failure:
    """Why there is no result, and what was spent all the same."""

    reason: str
    usage: Usage = NOTHING_USED
    did: Answer | None = None  # what the target did before it failed

    @property
    def answer(self) -> Answer:
        """An answer, as far as there is one."""
        return replace(self.did or Answer(text=""), error=self.reason, usage=self.usage)


async def _case(task: Task, context: RunContext, run: _Run) -> CaseResult:
    if not task.case.evaluators:
        return skipped(task, task.not_graded or nothing_to_grade(task.case))
    try:
        count, rule, start = task.trials(run.trials), task.case.trials, context.trial
        trials = (_trial(task, context.for_trial(n), run) for n in range(start, start + count))
        return median_trial(list(await coroutines.gather_all(trials)), rule)
    except NotCached as nothing:
        return skipped(task, str(nothing))


async def _trial(task: Task, context: RunContext, run: _Run) -> CaseResult:
    limits = run.limits
    async with AsyncExitStack() as held:
        # The target's slot comes first: a case that waits for a slow target blocks no other.
        async with limits.target_slot(task.target):
            await held.enter_async_context(limits.case_slot(task.target))
            started = perf_counter()
            answer = await _guarded(_answer(task, context, run), run.deadline)
        await limits.release_case_slot(held)
        name, model = task.target.name, command.model_of(task.target)
        context.found.accounts.add("target", name, answer.usage, model, _seconds(answer))
        if isinstance(answer, _Failure):
            seconds = perf_counter() - started
            _collect(task, answer.answer, context)
            return errored(task, answer.reason, for_judges(answer.answer), seconds=seconds)
        if task.also:
            context.side.given[task.case.key, context.trial] = answer
        await limits.wait_for_all_answers()
        specs = task.case.evaluators
        assessing = (_assess(task, answer, spec, context, run) for spec in specs)
        results = await coroutines.gather_all(assessing)
        for each in results:
            context.found.accounts.add("judge", each.judge, each.usage)
        shown, seconds = for_judges(answer), perf_counter() - started
        _collect(task, shown, context)
        return concluded(task, shown, results, context.thresholds, seconds)


def _collect(task: Task, answer: Answer, context: RunContext) -> None:
    """Keep the images and documents of a case and its answer for the reports."""
    for each in (*task.case.media, *task.case.reference_media, *answer.media):
        context.found.pictures.setdefault(each.file, each)


def _seconds(answer: Answer | _Failure) -> float | None:
    """Return how long the target took; None: unknown, or an answer from the cache."""
    if isinstance(answer, _Failure) or answer.answered_at:
        return None
    return answer.duration_seconds


async def _answer(task: Task, context: RunContext, run: _Run) -> Answer:
    case = varied(task.answered, context)
    if recorded := answer_cache.replayed(case, task.target, context):
        return recorded
    if cached := answer_cache.find(case, task.target, context):
        return cached
    if context.offline and task.target.starts_program:
        raise NotCached(f"target `{task.target.name}`: offline, so its command was not started")
    _check_judges(task, context)
    if task.target.is_asked:
        run.deadline.check()
    own = context
    if context.side.root and answer_cache.is_started(case, task.target):
        own = replace(context, root=context.side.root())
    await run.health.check(task.target, own)
    try:
        answer = await targets.answer(case, task.target, own, context.trial, run.workplaces)
    except (CannotAnswer, CannotRunScript) as error:
        failed = replace(error.did or Answer(text=""), error=str(error))
        answer_cache.keep(case, task.target, context, failed)
        raise
    answer_cache.keep(case, task.target, context, answer)
    return answer


def _check_judges(task: Task, context: RunContext) -> None:
    """Raise CannotReachModel if a judge of the case is down."""
    for name, judge in _judges(task, context):
        down = [
            reason for each in judge.endpoints if (reason := context.allowance.unreachable(each))
        ]
        if 2 * len(down) >= len(judge.endpoints):  # the others have no majority
            raise CannotReachModel(f"{name}: {down[0]}")


def _judges(task: Task, context: RunContext) -> Iterator[tuple[str, JudgeConfig]]:
    """Yield the judges that count, with their evaluators, if the target may cost something."""
    if task.target.is_asked:
        for spec in every_evaluator(spec for spec in task.case.evaluators if spec.weight > 0):
            if judge := judge_if_any(spec, context.judge):
                yield spec.name, judge


async def _assess(
    task: Task, answer: Answer, spec: EvaluatorSpec, context: RunContext, run: _Run
) -> EvaluatorResult:
    async with run.limits.evaluator_slot(spec):
        work = evaluate(task.case, answer, spec, context)
        result = await _guarded(work, run.deadline)
    if isinstance(result, _Failure):
        return unassessed(spec, result.reason, usage=result.usage)
    return result


async def _guarded(work: Awaitable[T], deadline: Deadline) -> T | _Failure:
    """Turn a failure of one case into a value; let UserError stop the run."""
    try:
        return await deadline.enforce(work)
    except (UserError, NotCached):
        raise
    except NoVerdict as error:
        return _Failure(reason=str(error), usage=error.usage, did=error.did)
    except Exception as error:  # noqa: BLE001 - the one boundary: a bug must not take the run down
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(last.filename).name}:{last.lineno}"
        return _Failure(reason=f"a bug in rubric-ci: {type(error).__name__}: {error} ({place})")


def varied(case: EvalCase, context: RunContext) -> EvalCase:
    """Return the case as it is sent; the first answer, and what judges see, is as written."""
    return replace(case, variant=blanks(context.trial)) if context.variants else case


def blanks(number: int) -> str:
    """Return as many line breaks and blanks, in turn."""
    return ("\n " * number)[:number]
