"""What `run --list` prints: the cases, and what both sides of a change would ask for."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime

from rubric_ci.comparison import wording
from rubric_ci.grading import case_list
from rubric_ci.grading.expected_work import ExpectedWork
from rubric_ci.grading.task import Task
from rubric_ci.model.git_changes import NoBase
from rubric_ci.run.base_comparison import no_answers
from rubric_ci.run.sides import Sides
from rubric_ci.text import numbers


def render(
    work: Sequence[ExpectedWork],
    sides: Sides | NoBase | None,
    estimates: Sequence[str],
    now: datetime,
) -> str:
    """Return a line per case, per side, per target and per estimate; `work` starts with the head.

    `now` is the start of the run, for the age of the base.
    """
    head, *base = work
    lines = [
        *case_list.target_lines(head),
        *_base(head.tasks, sides, now),
        *(line for side in base for line in case_list.target_lines(side)),
        *estimates,
    ]
    return case_list.render(head.tasks, lines)


def _base(tasks: Sequence[Task], sides: Sides | NoBase | None, now: datetime) -> Iterator[str]:
    match sides:
        case None:
            return
        case NoBase(reason=reason):
            yield f"no base: {reason}"
        case Sides():
            commit = wording.commit(no_answers("", sides.base), now.isoformat())
            yield f"base {commit}: {', '.join(_counts(tasks, sides))}"


def _counts(tasks: Sequence[Task], sides: Sides) -> Iterator[str]:
    """Yield how many cases are asked at the base, and what the others are."""
    found = Counter(_standing(task, sides) for task in tasks if task.case.evaluators)
    yield f"{numbers.plural(found['asked'], 'case')} to answer there"
    if found["shared"]:
        yield f"{found['shared']:,} with the answer of the checkout"
    if found["not comparable"]:
        yield f"{found['not comparable']:,} not comparable"
    if found["new"]:
        yield f"{found['new']:,} new"
    if sides.base.removed:
        yield f"{len(sides.base.removed):,} removed"


def _standing(task: Task, sides: Sides) -> str:
    if sides.asks_base(task):
        return "asked"
    key = task.case.file, task.case.id
    if key in sides.base.incomparable:
        return "not comparable"
    return "shared" if key in sides.base.tasks else "new"
