"""The list of `run --list`: cases and targets, and how many requests they would need."""

from collections.abc import Iterator, Sequence
from typing import assert_never

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


def render(tasks: Sequence[Task], estimates: Sequence[str], trials: int) -> str:
    """Return a line per case, per target and per estimate, and the number of cases."""
    rows = [tuple(map(log_line, _cells(task))) for task in tasks]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
    lines = [_row(row, widths) for row in rows]
    totals = [numbers.plural(len(tasks), "case"), *_targets(tasks, trials), *estimates]
    return "".join(f"{line}\n" for line in [*lines, *map(log_line, totals)])


def _cells(task: Task) -> tuple[str, ...]:
    place = f"{task.case.file}:{task.case.span.line}"
    return place, task.case.id, task.target.name, task.why


def _row(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [text.ljust(width) for text, width in zip(row, widths, strict=False)]
    return "  ".join([*cells, row[-1]])


def _targets(tasks: Sequence[Task], trials: int) -> Iterator[str]:
    graded = [task for task in tasks if task.case.evaluators]
    for target in {task.target.name: task.target for task in graded}.values():
        own = [task for task in graded if task.target.name == target.name]
        yield f"target {target.name}: {_work(target, own, trials)}"


def _work(target: Target, tasks: Sequence[Task], trials: int) -> str:
    """Return what the answers of a target take; the length of answers is not known before."""
    answers = sum(task.trials(trials) for task in tasks)
    match target:
        case LlmTarget(endpoint=endpoint):
            requests = numbers.plural(answers, "request")
            return f"{requests} to {endpoint.model}, cost unknown before the answers"
        case CliTarget(batched=batched):
            files = {task.case.file: task.trials(trials) for task in tasks}
            starts = sum(files.values()) if batched else answers
            return numbers.plural(starts, "start of its command", "starts of its command")
        case RecordedTarget():
            return f"{numbers.plural(len(tasks), 'recorded answer')}, no requests"
        case MockTarget():
            return f"{numbers.plural(len(tasks), 'fixed answer')}, no requests"
        case UnsupportedTarget(provider=provider):
            return f"no answers: provider `{provider}` is not supported yet"
        case _:
            assert_never(target)
