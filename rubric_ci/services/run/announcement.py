"""Requests, starts and cost of a run: shown before it, and by `run --list`."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from rubric_ci.errors import NoJudge
from rubric_ci.gate.comparison import rule
from rubric_ci.grading.resolve import Task
from rubric_ci.grading.tasks import check_judges
from rubric_ci.services.cost_estimate import Estimate, estimate_answers, estimate_work
from rubric_ci.services.expected_requests import ExpectedWork
from rubric_ci.services.last_run import LastRun, last_run
from rubric_ci.services.run import sentinel
from rubric_ci.services.run.asking import once
from rubric_ci.services.run.grade import RunInput, is_folder, watch_of
from rubric_ci.services.run.sides import Sides
from rubric_ci.text import numbers
from rubric_ci.text.escape import log_line
from rubric_ci.values.changes import NoBase
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.formats_and_defaults import REPORT_FILES
from rubric_ci.values.scope import EVERY_CASE

_FURTHER: Final = 0.4
"""Further answers per case and first trial if nothing broke, measured: benchmarks/against."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Announcement:
    """The expected requests of a run, and the bounds of further ones."""

    estimate: Estimate
    further: Sequence[str] = ()  # a line each

    @property
    def lines(self) -> Iterator[str]:
        """A line per target and judge that costs something, the total and the bounds."""
        yield from self.estimate.lines
        yield from self.further


def announce(work: Sequence[ExpectedWork], inputs: RunInput) -> Announcement:
    """Return the requests of a run: both sides, the sentinel, and bounds of further trials."""
    settings, baseline = inputs.settings, inputs.baseline.report if inputs.baseline else None
    cache = settings.cache.folder if inputs.context.cache else None
    last = last_run(settings.report.output_dir / REPORT_FILES["json"], cache, baseline)
    if not settings.requests.live:
        answers = [each for side in work for each in estimate_answers(side, last)]
        unsent = [replace(each, estimate=None) for each in answers]
        return Announcement(estimate=Estimate(answers=unsent))
    watched = _watched(inputs)
    every = estimate_work((*work, *watched), last, batched=settings.requests.batch)
    return Announcement(estimate=every, further=tuple(_further(inputs, watched, last)))


def _watched(inputs: RunInput) -> tuple[ExpectedWork, ...]:
    tasks = sentinel.expected(watch_of(inputs), inputs.tasks)
    context = replace(inputs.context, cache=None)
    return (ExpectedWork(tasks=tasks, context=context),) if tasks else ()


def _further(inputs: RunInput, watched: Sequence[ExpectedWork], last: LastRun) -> Iterator[str]:
    if watched:
        again = _requests(watched, last)
        yield f"{again:,} of these requests ask for marks again, to notice a judge that moves"
    settings = inputs.settings
    if settings.trials >= rule.KEPT and is_folder(settings.report.baseline):
        yield (
            f"every case is answered and judged {settings.trials} times, to become the "
            "baseline; later nights need fewer trials"
        )
    if inputs.baseline:
        yield from _of_suspects(inputs, last)
    if inputs.both:
        yield from _of_both_sides(inputs.both, inputs, last)


def _of_suspects(inputs: RunInput, last: LastRun) -> Iterator[str]:
    """Yield how many more requests suspects get, compared with a report, if all cases are."""
    tasks = [task for task in inputs.tasks if task.case.evaluators]
    k = rule.times(inputs.selection.rows)
    found = _estimate([_again(tasks, rule.needs(k, kept=1).here.answers, inputs)], last)
    if found.most:
        yield f"{_bound(found)} to ask cases again that are worse, {found.cost}"


def _again(tasks: Sequence[Task], trials: int, inputs: RunInput) -> ExpectedWork:
    # NOTE: the caches are not asked; a further trial is seldom in them.
    context = replace(inputs.context, cache=None)
    return ExpectedWork(tasks=[once(task) for task in tasks], context=context, trials=trials)


def _estimate(work: Sequence[ExpectedWork], last: LastRun) -> Estimate:
    return estimate_work(work, last, preflight=False)


def _requests(work: Sequence[ExpectedWork], last: LastRun) -> int:
    found = _estimate(work, last).total
    return found.requests if found else 0


def _bound(found: Estimate) -> str:
    return f"up to {numbers.plural(found.most, 'more request')}"


def _of_both_sides(sides: Sides, inputs: RunInput, last: LastRun) -> Iterator[str]:
    """Yield how many more requests ask suspects again, usually and if every case is one."""
    asked = [task for task in inputs.tasks if task.case.evaluators and sides.asks_base(task)]
    alone = [task for task in inputs.tasks if task.case.evaluators and sides.asks_alone(task)]
    new = _again(alone, rule.times(sides.rows), inputs)
    found = _estimate((*_if_all_are_suspects(asked, sides, inputs), new), last)
    if not found.most:
        return
    few = round(_FURTHER / sides.trials * _requests([_again(asked, 1, inputs)], last))
    yield (
        f"about {few:,} more if nothing broke, {_bound(found)} if every case is asked again, "
        f"{found.cost}"
    )


def _if_all_are_suspects(
    asked: Sequence[Task], sides: Sides, inputs: RunInput
) -> tuple[ExpectedWork, ...]:
    """Return the further answers of both sides; also under the base's rubrics where they differ.

    Where all cases together are tested, a drop is tested again with new answers of the base.
    """
    rubrics = sides.base.rubrics
    again = [
        replace(task, case=replace(task.case, evaluators=rubrics[task.case.key].evaluators))
        for task in asked
        if task.case.key in rubrics
    ]
    more = rule.times(sides.rows)
    first = max((task.trials(sides.trials) for task in again), default=0)
    here, there = _again(asked, more, inputs), _again(again, more + first, inputs)
    fresh = _again(asked if len(asked) >= rule.LEAST_CLUSTERS else (), 1, inputs)
    return here, here, there, there, fresh


def listing(tasks: Sequence[Task], inputs: RunInput, announced: Announcement) -> str:
    """Return a line per case, per target and per estimate, and why there is no base."""
    lines = [
        *(each.line for each in announced.estimate.answers),
        *([f"no base: {inputs.sides.reason}"] if isinstance(inputs.sides, NoBase) else ()),
        *announced.estimate.lines_after_targets,
        *announced.further,
        *_without_judge(tasks),
    ]
    return _case_list(tasks, lines)


def _without_judge(tasks: Sequence[Task]) -> Iterator[str]:
    """Yield why the estimate has no requests of a judge that the cases need."""
    try:
        check_judges(tasks)
    except NoJudge as error:
        yield f"{error}, so its requests are not in the estimate: {error.hint}"


def _case_list(tasks: Sequence[Task], lines: Sequence[str]) -> str:
    rows = []
    for task in tasks:
        why = "" if task.why == EVERY_CASE else task.why
        place = f"{task.case.file}:{task.case.span.line}"
        rows.append([*map(log_line, (place, task.case.id, task.target.name, why))])
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
    listed = ["  ".join([*map(str.ljust, row[:3], widths), row[3]]).rstrip() for row in rows]
    totals = [numbers.plural(len(tasks), "case"), *lines]
    return "".join(f"{line}\n" for line in [*listed, *map(log_line, totals)])
