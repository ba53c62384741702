"""Requests and cost that a run may need: shown before its first request, and by `run --list`."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final, assert_never

from rubric_ci.gate.comparison import verdicts, wording
from rubric_ci.grading.resolve import Task
from rubric_ci.grading.targets import spending
from rubric_ci.model.changes import NoBase
from rubric_ci.model.config import (
    CliTarget,
    LlmTarget,
    MockTarget,
    RecordedTarget,
    RunnerTarget,
    Target,
    UnsupportedTarget,
)
from rubric_ci.model.evals import EvalCase
from rubric_ci.services.cost.judgements import JudgeEstimate, estimate_cost, estimate_lines, total
from rubric_ci.services.cost.work import ExpectedWork
from rubric_ci.services.run.base_comparison import no_answers
from rubric_ci.services.run.confirmation import most_further_trials, once
from rubric_ci.services.run.grade import RunInput, becomes_reference, without_models
from rubric_ci.services.run.sides import Sides
from rubric_ci.text import numbers
from rubric_ci.text.escape import log_line

_HALF: Final = 2  # both questions of a suspect share the budget of false alarms


def estimate(work: Sequence[ExpectedWork], inputs: RunInput) -> Sequence[JudgeEstimate]:
    """Return the expected judge requests of both sides, without further trials."""
    settings = inputs.settings
    return () if without_models(settings) else estimate_cost(work, batched=settings.batch)


def lines(
    work: Sequence[ExpectedWork],
    sides: Sides | NoBase | None,
    expected: Sequence[JudgeEstimate],
    inputs: RunInput,
) -> Iterator[str]:
    """Yield a line per target and judge that is requested, and one on suspects."""
    if not without_models(inputs.settings):
        for side in work:
            yield from request_lines(side)
    yield from estimate_lines(expected)
    if becomes_reference(inputs):
        yield (
            f"every case is answered and judged {inputs.settings.trials} times, to become the "
            "reference; later nights need fewer trials"
        )
    yield from confirmation(sides, inputs)


def confirmation(sides: Sides | NoBase | None, inputs: RunInput) -> Iterator[str]:
    """Yield how many more requests confirm suspected breaks, if every case is a suspect."""
    if not isinstance(sides, Sides):
        return
    asked = [task for task in inputs.tasks if task.case.evaluators and sides.asks_base(task)]
    work = _if_all_are_suspects(asked, sides, inputs)
    judged = total(estimate_cost(work, preflight=False))
    answers = sum(
        side.trials * (task.case.most_turns or 1)
        for side in work
        for task in side.tasks
        if isinstance(task.target, LlmTarget) or spending.price_of(task.target)
    )
    requests = answers + (judged.requests if judged else 0)
    if not requests:
        return
    cost = "price unknown"
    if judged and judged.cost_usd is not None:
        cost = numbers.dollars(judged.cost_usd) + (" without the answers" if answers else "")
    none = "; fewer if most cases break" if may_decide_together(asked, sides) else ""
    yield (
        f"up to {numbers.plural(requests, 'more request')} to confirm suspected breaks "
        f"on both sides, {cost}{none}"
    )


def may_decide_together(asked: Sequence[Task], sides: Sides) -> bool:
    """Return True if these cases have as many clusters as the test of all of them needs."""
    clusters = {task.cluster or task.case.key for task in asked}
    return verdicts.may_decide_together(len(clusters), sides.config)


def _if_all_are_suspects(
    asked: Sequence[Task], sides: Sides, inputs: RunInput
) -> tuple[ExpectedWork, ...]:
    """Return the further trials of both sides; also under the base's rubrics where they differ."""
    rubrics = sides.base.rubrics
    changed = [task for task in asked if task.case.key in rubrics]
    if changed:
        config = replace(sides.config, false_alarms=sides.config.false_alarms / _HALF)
        sides = replace(sides, config=config)
    more = most_further_trials(asked, sides)
    again = [
        replace(task, case=replace(task.case, evaluators=rubrics[task.case.key].evaluators))
        for task in changed
    ]
    most = most_further_trials(again, sides)
    first = max((task.trials(sides.trials) for task in changed), default=0)
    # NOTE: the caches are not asked; a further trial is seldom in them.
    context = replace(inputs.context, cache=None)
    here = ExpectedWork(tasks=[once(task) for task in asked], context=context, trials=more)
    there = ExpectedWork(tasks=[once(task) for task in again], context=context, trials=most + first)
    today = [here, there] if may_decide_together(asked, sides) else []  # of the base, once more
    return (here, here, there, there, *(replace(work, trials=1) for work in today))


def listing(
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
        *target_lines(head),
        *_base(head.tasks, sides, now),
        *(line for side in base for line in target_lines(side)),
        *estimates,
    ]
    return _case_list(head.tasks, lines)


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
    key = task.case.key
    if key in sides.base.incomparable:
        return "not comparable"
    return "shared" if key in sides.base.tasks else "new"


def _case_list(tasks: Sequence[Task], lines: Sequence[str]) -> str:
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
    """Yield a line per target that costs money on one side, for answers or as a user."""
    tasks = [
        task
        for task in work.tasks
        if isinstance(task.target, LlmTarget)
        or spending.price_of(task.target)
        or task.case.simulated_user
    ]
    return target_lines(replace(work, tasks=tasks))


def _work(target: Target, tasks: Sequence[Task], work: ExpectedWork) -> str:
    """Return the expected requests of a target; their cost is unknown in advance."""
    every = [(task, trial) for task in tasks for trial in range(task.trials(work.trials))]
    asked = [task.case for task, trial in every if work.answer(task, trial) is None]
    cached = len(every) - len(asked)
    more = f"; {numbers.plural(cached, 'more answer')} in the cache" if cached else ""
    turns, most = sum(case.most_turns or 1 for case in asked), _at_most(asked)
    match target:
        case LlmTarget(endpoint=endpoint):
            requests = f"{most}{numbers.plural(turns, 'request')} to {endpoint.model}"
            return f"{requests}, cost unknown before the answers{_of_users(asked)}{more}"
        case CliTarget(batched=batched):
            files = {task.case.file: task.trials(work.trials) for task in tasks}
            starts = min(turns, sum(files.values())) if batched else turns
            words = numbers.plural(starts, "start of its command", "starts of its command")
            return f"{most}{words}{_of_starts(target, starts)}{_of_users(asked)}{more}"
        case RecordedTarget():
            less = f"; {numbers.plural(len(asked), 'answer')} not recorded" if asked else ""
            return f"{numbers.plural(cached, 'recorded answer')}, no requests{less}"
        case MockTarget():
            return (
                f"{numbers.plural(len(tasks), 'fixed answer')}{_of_users(asked) or ', no requests'}"
            )
        case RunnerTarget():
            return "no answers: a runner has cases of its own"
        case UnsupportedTarget(provider=provider, reason=reason):
            why = (
                "the target is not started"
                if reason
                else f"provider `{provider}` is not supported yet"
            )
            return f"no answers: {why}"
        case _:
            assert_never(target)


def _of_starts(target: Target, starts: int) -> str:
    """Return what the starts may cost, as words; nothing for what the caps do not count."""
    price = spending.price_of(target)
    if price is None:
        return ""
    if price.most is None:
        return ", cost unknown before the answers"
    return f", at most {numbers.dollars(starts * price.most)}"


def _at_most(asked: Sequence[EvalCase]) -> str:
    return "up to " if any(case.simulated_user for case in asked) else ""


def _of_users(asked: Sequence[EvalCase]) -> str:
    """Return the requests for the messages of simulated users, as words."""
    most = sum(case.most_turns - len(case.turns) for case in asked if case.simulated_user)
    return f"; up to {numbers.plural(most, 'request')} for simulated users" if most else ""
