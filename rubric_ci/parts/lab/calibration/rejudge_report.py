"""Judge the stored answers of a report again; no target is asked."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from rubric_ci.errors import CannotReadFile
from rubric_ci.grading.engine import grade
from rubric_ci.grading.resolve import Task, is_of_text, needs_judge
from rubric_ci.grading.trial_results import median_trial
from rubric_ci.parts.lab.calibration.rejudge import given
from rubric_ci.parts.lab.calibration.sentinel import measure
from rubric_ci.parts.lab.calibration.sentinel import measured_tasks as sentinel_tasks
from rubric_ci.services.cost.expected_requests import ExpectedWork
from rubric_ci.services.publish.copies import shown_again
from rubric_ci.values.answers import answer_of
from rubric_ci.values.comparison import CaseKey, Sentinel
from rubric_ci.values.context import RunContext
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.evals import every_evaluator
from rubric_ci.values.media import Picture, ReadCopy
from rubric_ci.values.results import Answer, CaseResult, Graded
from rubric_ci.values.trials import trials_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejudged:
    """The cases with new marks, why others have none, and the new sentinel."""

    cases: tuple[Graded, ...]
    left_out: tuple[str, ...]  # one line each
    sentinel: Sentinel


async def rejudge_cases(
    cases: Sequence[CaseResult],
    tasks: Sequence[Task],
    context: RunContext,
    concurrency: int,
    read: ReadCopy,
) -> Rejudged:
    """Mark every kept answer of every case; a case without a judge stays as it is.

    `read` returns the copies of images in answers.
    """
    graded = [case for case in cases if isinstance(case, Graded)]
    problems = _problems(graded, tasks, read)
    asked = list(_asked(graded, tasks, read))
    results = await grade([task for _, task in asked], context, concurrency=concurrency)
    if len(results) < len(asked):
        raise KeyboardInterrupt
    marked: dict[CaseKey, list[CaseResult]] = {}
    for (case, _), result in zip(asked, results, strict=True):
        marked.setdefault(case.key, []).append(result)
    found = [_marked(case, marked) for case in graded if not problems[case.key]]
    done = tuple(case for case in found if isinstance(case, Graded))
    lost = {case.key: case.reason for case in found if not isinstance(case, Graded)}
    sentinel = await measure(done, tasks, context, concurrency)
    return Rejudged(cases=done, left_out=tuple(_lines({**problems, **lost})), sentinel=sentinel)


def expected(
    cases: Sequence[CaseResult], tasks: Sequence[Task], context: RunContext, read: ReadCopy
) -> tuple[ExpectedWork, ...]:
    """Return the requests to the judge: marks of the kept answers, and a new sentinel."""
    graded = [case for case in cases if isinstance(case, Graded)]
    again = [task for _, task in _asked(graded, tasks, read)]
    watched = sentinel_tasks({task.case.key: task for task in again}.values())
    uncached = replace(context, cache=None)
    return tuple(ExpectedWork(tasks=each, context=uncached) for each in (again, watched) if each)


def _problems(
    graded: Sequence[Graded], tasks: Sequence[Task], read: ReadCopy
) -> Mapping[CaseKey, str]:
    by_case = {task.case.key: task for task in tasks}
    return {case.key: _why_not(case, by_case.get(case.key), read) for case in graded}


def _asked(
    graded: Sequence[Graded], tasks: Sequence[Task], read: ReadCopy
) -> Iterator[tuple[Graded, Task]]:
    """Yield each case that the judge marks, once for each kept answer."""
    by_case, problems = {task.case.key: task for task in tasks}, _problems(graded, tasks, read)
    for case in graded:
        if not problems[case.key] and needs_judge(by_case[case.key].case):
            for trial in trials_of(case):
                again = answer_of(trial, shown_again(trial.media, read))
                yield case, _task(by_case[case.key], again)


def _why_not(case: Graded, task: Task | None, read: ReadCopy) -> str:
    """Return why the answers of a case cannot be marked; empty: they can."""
    if task is None:
        return "the eval files no longer have it"
    if not needs_judge(task.case):
        return ""
    if task.case.looks_in_workspace:
        return "a script looks into the workspace, which is gone"
    if any(trial.answer is None for trial in trials_of(case)):
        return "the report does not have the answer of every trial"
    if any(trial.trace is None for trial in trials_of(case)):
        for spec in every_evaluator(task.case.evaluators):
            if not is_of_text(spec):
                return f"the evaluator `{spec.name}` needs the work, which the report does not have"
    return next(_gone((each for trial in trials_of(case) for each in trial.media), read), "")


def _gone(pictures: Iterable[Picture], read: ReadCopy) -> Iterator[str]:
    """Yield why each picture that has no copy cannot be shown again."""
    for each in pictures:
        try:
            read(each)
        except CannotReadFile as error:
            yield error.message


def _task(task: Task, answer: Answer) -> Task:
    return replace(task, case=replace(task.case, trials=None), target=given(answer))


def _marked(case: Graded, marked: Mapping[CaseKey, list[CaseResult]]) -> CaseResult:
    """Return the case with its new trials, at its line in the present eval file."""
    if case.key not in marked:
        return case
    found = median_trial(marked[case.key])
    if not isinstance(found, Graded):
        return found
    return replace(found, target=case.target, recorded=case.recorded, cluster=case.cluster)


def _lines(problems: Mapping[CaseKey, str]) -> Iterator[str]:
    for (file, name), reason in problems.items():
        if reason:
            yield f"{file}: {name}: left out: {reason}"
