"""Grade the base side of a change, and say how each case differs from it."""

from collections import Counter
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, replace

from rubric_ci.comparison import verdicts
from rubric_ci.comparison.verdicts import Compared
from rubric_ci.grading.task import Task
from rubric_ci.model.git_changes import NoBase
from rubric_ci.model.llm_calls import NOTHING_USED
from rubric_ci.model.report import Against, RemovedCase
from rubric_ci.model.results import CaseResult, Errored, Graded
from rubric_ci.run.base_rubrics import confirm_under_both
from rubric_ci.run.base_side import BaseSide, Key
from rubric_ci.run.confirmation import INTERRUPTED, Confirmed, Pair
from rubric_ci.run.sides import Sides


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The results of the head, and what they are compared with."""

    results: tuple[CaseResult, ...]
    against: Against | None = None
    removed: tuple[RemovedCase, ...] = ()


async def compare(
    sides: Sides | NoBase | None,
    ref: str,
    tasks: Sequence[Task],
    grading: Awaitable[tuple[CaseResult, ...]],
) -> Outcome:
    """Await the results of the head, and return them with what they were at the base.

    Cases without a result on both sides are not comparable.
    """
    head = await grading
    match sides:
        case None:
            return Outcome(results=head)
        case NoBase(reason=reason):
            found = Compared(change="not-comparable", reason=f"no base: {reason}")
            results = tuple(verdicts.changed(case, found) for case in head)
            return Outcome(results=results, against=Against(ref=ref, commit=""))
        case Sides():
            return await _compare(sides, ref, tasks, head)


async def _compare(
    sides: Sides, ref: str, tasks: Sequence[Task], head: Sequence[CaseResult]
) -> Outcome:
    by_key = {(task.case.file, task.case.id): task for task in tasks}
    base = sides.base.tasks
    shared = {key for key, task in base.items() if sides.share_answer(by_key[key], task)}
    known = {(case.file, case.id): case for case in head}
    asked = {
        key: task
        for key, task in base.items()
        if isinstance(known.get(key), Graded) and key not in shared
    }
    results = await sides.graded(list(asked.values()), sides.base_context, sides.trials)
    pairs = {
        key: Pair(head_task=by_key[key], base_task=task, head=known[key], base=result)
        for key, task in asked.items()
        if (result := results.get((task.case.file, task.case.id)))
    }
    confirmed = await confirm_under_both(sides, pairs)
    compared = tuple(_result(case, sides.base, confirmed, shared) for case in head)
    return Outcome(
        results=compared,
        against=_against(ref, sides.base, compared, confirmed.further_trials),
        removed=sides.base.removed,
    )


def _result(case: CaseResult, base: BaseSide, confirmed: Confirmed, shared: set[Key]) -> CaseResult:
    key = case.file, case.id
    if key in confirmed.pairs:
        pair = confirmed.pairs[key]
        return verdicts.changed(pair.head, confirmed.compared[key], verdicts.base_result(pair.base))
    if key in base.incomparable:
        return verdicts.changed(
            case, Compared(change="not-comparable", reason=base.incomparable[key])
        )
    if key not in base.tasks:
        return verdicts.changed(case, Compared(change="new"))
    found = verdicts.compare(case, case)
    if isinstance(case, Graded) and key in shared:
        side = replace(verdicts.base_result(case), source="shared", usage=NOTHING_USED)
        return verdicts.changed(case, found, side)
    if isinstance(case, Graded):
        found = Compared(change="not-comparable", reason=INTERRUPTED)
    return verdicts.changed(case, found)


def no_answers(ref: str, base: BaseSide) -> Against:
    """Return the facts about the base before it is asked."""
    return Against(
        ref=ref,
        commit=base.base.commit,
        committed_at=base.committed_at,
        origin=base.base.origin,
    )


def _against(
    ref: str, base: BaseSide, results: Sequence[CaseResult], further_trials: int
) -> Against:
    """Return the base side as the report shows it."""
    sides = [case.before for case in results if isinstance(case, Graded | Errored) and case.before]
    count: Mapping[str, int] = Counter(side.source for side in sides)
    return replace(
        no_answers(ref, base),
        further_trials=further_trials,
        asked=count["asked"],
        reused=count["reused"],
        recorded=count["recorded"],
        shared=count["shared"],
        usage=sum((side.usage for side in sides), NOTHING_USED),
    )
