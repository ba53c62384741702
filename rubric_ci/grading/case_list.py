"""The list of `run --list`: cases and targets, and how many requests they would need."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import assert_never

from rubric_ci.grading.expected_work import ExpectedWork
from rubric_ci.grading.task import Task
from rubric_ci.model.config import (
    CliTarget,
    LlmTarget,
    MockTarget,
    RecordedTarget,
    Target,
    UnsupportedTarget,
)
from rubric_ci.text import numbers
from rubric_ci.text.escape import log_line


def render(tasks: Sequence[Task], lines: Sequence[str]) -> str:
    """Return a line per case, the number of cases, and these lines."""
    rows = [tuple(map(log_line, _cells(task))) for task in tasks]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
    listed = [_row(row, widths) for row in rows]
    totals = [numbers.plural(len(tasks), "case"), *lines]
    return "".join(f"{line}\n" for line in [*listed, *map(log_line, totals)])


def _cells(task: Task) -> tuple[str, ...]:
    place = f"{task.case.file}:{task.case.span.line}"
    return place, task.case.id, task.target.name, task.why


def _row(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [text.ljust(width) for text, width in zip(row, widths, strict=False)]
    return "  ".join([*cells, row[-1]])


def target_lines(work: ExpectedWork) -> Iterator[str]:
    """Yield a line per target of one side: what its answers take, less those in the cache."""
    graded = [task for task in work.tasks if task.case.evaluators]
    for target in {task.target.name: task.target for task in graded}.values():
        own = [task for task in graded if task.target.name == target.name]
        yield f"{work.name}target {target.name}: {_work(target, own, work)}"


def request_lines(work: ExpectedWork) -> Iterator[str]:
    """Yield a line per model that answers one side."""
    tasks = [task for task in work.tasks if isinstance(task.target, LlmTarget)]
    return target_lines(replace(work, tasks=tasks))


def _work(target: Target, tasks: Sequence[Task], work: ExpectedWork) -> str:
    """Return the expected requests of a target; their cost is unknown in advance."""
    match target:
        case LlmTarget(endpoint=endpoint):
            answers, cached = _answers(tasks, work)
            requests = numbers.plural(answers, "request")
            return f"{requests} to {endpoint.model}, cost unknown before the answers{cached}"
        case CliTarget(batched=batched):
            answers, cached = _answers(tasks, work)
            files = {task.case.file: task.trials(work.trials) for task in tasks}
            starts = min(answers, sum(files.values())) if batched else answers
            return numbers.plural(starts, "start of its command", "starts of its command") + cached
        case RecordedTarget():
            lacking, _ = _answers(tasks, work)
            less = f"; {numbers.plural(lacking, 'answer')} not recorded" if lacking else ""
            kept = sum(task.trials(work.trials) for task in tasks) - lacking
            return f"{numbers.plural(kept, 'recorded answer')}, no requests{less}"
        case MockTarget():
            return f"{numbers.plural(len(tasks), 'fixed answer')}, no requests"
        case UnsupportedTarget(provider=provider):
            return f"no answers: provider `{provider}` is not supported yet"
        case _:
            assert_never(target)


def _answers(tasks: Sequence[Task], work: ExpectedWork) -> tuple[int, str]:
    """Return how many answers are asked for, and how many are in the cache, as words."""
    every = [(task, trial) for task in tasks for trial in range(task.trials(work.trials))]
    cached = sum(work.answer(task, trial) is not None for task, trial in every)
    more = f"; {numbers.plural(cached, 'more answer')} in the cache" if cached else ""
    return len(every) - cached, more
