"""Compare the head of a change with its base: ask suspects again, and say how each case differs.

Of all cases together, a drop counts if it shows with new answers of the base as well: those from
the cache are of another day, and a model behind an alias or the judge may have moved since. Where
the other side is a report and cannot be asked, only the head is asked again.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from rubric_ci.gate.comparison import rule, together, verdicts
from rubric_ci.gate.comparison.compared import counterparts
from rubric_ci.gate.comparison.verdicts import Compared
from rubric_ci.grading.resolve import Task
from rubric_ci.services.run.asking import (
    INTERRUPTED,
    Asker,
    Key,
    Pair,
    Settled,
    once,
    settle,
    settle_alone,
)
from rubric_ci.services.run.both_rulers import settle_under_both
from rubric_ci.services.run.sides import BaseSide, HeadOnly, Sides, again
from rubric_ci.values.comparison import Together
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.gate import is_gating
from rubric_ci.values.report import Against, RemovedCase, RunReport
from rubric_ci.values.results import CaseResult, Errored, Graded, both_graded, with_verdict
from rubric_ci.values.usage import NOTHING_USED

UNASKED: Final = (
    "the deployed service answers for both sides, and no answer of the base is kept: name its "
    "`start` or `url_before`, or let the default branch keep answers"
)
NOT_STARTED: Final = "Its service gets ready at the base, and not here"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    results: tuple[CaseResult, ...]
    against: Against | None = None
    removed: tuple[RemovedCase, ...] = ()


async def compare(
    sides: Sides,
    ref: str,
    tasks: Sequence[Task],
    head: Sequence[CaseResult],
    base: Mapping[Key, CaseResult],
) -> Outcome:
    """Return the results of the head compared with those of the base, by first answers.

    Cases without a result on both sides are not comparable.
    """
    by_key = {task.case.key: task for task in tasks}
    pairs = {
        case.key: Pair(
            head_task=by_key[case.key],
            base_task=then if then.target.answers_on_both_sides else None,
            head=case,
            base=base[case.key],
        )
        for case in with_verdict(head)
        if case.key in base
        for then in [sides.base.tasks[case.key]]
    }
    every = await find_together(sides, pairs)
    settled = await settle_under_both(sides, pairs)
    compared = [_result(case, sides, by_key[case.key], settled) for case in head]
    results = await with_lone(sides, by_key, compared)
    results = await _with_services(sides, by_key, results)
    return Outcome(
        results=results,
        against=_against(ref, sides.base, results, settled, every),
        removed=sides.base.removed,
    )


def without_base(reason: str, ref: str, head: Sequence[CaseResult]) -> Outcome:
    """Return the results of the head, none of which can be compared."""
    found = Compared(change="not-comparable", reason=f"no base: {reason}")
    results = tuple(verdicts.changed(case, found) for case in head)
    return Outcome(results=results, against=Against(ref=ref, commit=""))


def _result(case: CaseResult, sides: Sides, task: Task, settled: Settled) -> CaseResult:
    key, base = case.key, sides.base
    if key in settled.pairs:
        return settled_case(key, settled)
    if key in base.incomparable:
        found = Compared(change="not-comparable", reason=base.incomparable[key])
        return verdicts.changed(case, found)
    if key not in base.tasks:
        return verdicts.changed(case, Compared(change="new"))
    if case.verdict and sides.share_answer(task, base.tasks[key]):
        side = replace(verdicts.base_result(case), source="shared", usage=NOTHING_USED)
        return verdicts.changed(case, verdicts.compare(case, case), side)
    found = verdicts.compare(case, case)
    if case.verdict:
        why = UNASKED if sides.lacks_answers(task) else INTERRUPTED
        found = Compared(change="not-comparable", reason=why)
    return verdicts.changed(case, found)


def settled_case(key: Key, settled: Settled) -> CaseResult:
    """Return a case of a pair with how it differs; errored if it has too few answers."""
    pair, before = settled.pairs[key], verdicts.base_result(settled.pairs[key].base)
    if reason := settled.errored.get(key):
        lost = pair.head.as_errored(reason)
        return verdicts.changed(lost, Compared(change="not-comparable", reason=reason), before)
    return verdicts.changed(pair.head, settled.compared[key], before)


async def with_lone(
    asker: Asker, tasks: Mapping[Key, Task], cases: Sequence[CaseResult]
) -> tuple[CaseResult, ...]:
    """Return the cases; failing ones without a counterpart were asked again, and are the median."""
    failing = {
        case.key: (tasks[case.key], case)
        for case in with_verdict(cases)
        if case.change in {"new", "not-comparable"} and case.status == "fail"
    }
    found = await settle_alone(asker, failing)
    return tuple(
        replace(
            found[case.key],
            change=case.change,
            change_reason=case.change_reason,
            before=case.before,
        )
        if case.key in found
        else case
        for case in cases
    )


async def _with_services(
    sides: Sides, tasks: Mapping[Key, Task], cases: Sequence[CaseResult]
) -> tuple[CaseResult, ...]:
    """Return the cases; those whose service starts at the base and not here are broken."""
    services, known = sides.context.services, sides.base.tasks
    if services is None:
        return tuple(cases)
    broken: dict[str, bool] = {}
    for case in cases:
        name = tasks[case.key].target.name
        if isinstance(case, Errored) and case.key in known and name not in broken:
            then = known[case.key].target
            failed = services.has_failed(name)
            broken[name] = failed and await services.gets_ready(then, sides.base_context)
    return tuple(
        verdicts.changed(case, Compared(change="broken", reason=NOT_STARTED))
        if isinstance(case, Errored) and broken.get(tasks[case.key].target.name)
        else case
        for case in cases
    )


def no_answers(ref: str, base: BaseSide) -> Against:
    """Return the facts about the base before it is asked."""
    return Against(
        ref=ref, commit=base.base.commit, committed_at=base.committed_at, origin=base.base.origin
    )


def _against(
    ref: str,
    base: BaseSide,
    results: Sequence[CaseResult],
    settled: Settled,
    every: Together | None,
) -> Against:
    """Return the base side as the report shows it."""
    sides = [case.before for case in results if case.before]
    count: Mapping[str, int] = Counter(side.source for side in sides)
    return replace(
        no_answers(ref, base),
        further_trials=settled.further,
        together=every,
        asked=count["asked"],
        reused=count["reused"],
        recorded=count["recorded"],
        shared=count["shared"],
        usage=sum((side.usage for side in sides), NOTHING_USED),
    )


async def find_together(sides: Sides, every: Mapping[Key, Pair]) -> Together | None:
    """Return the test of the cases that the gate is about; the base is asked again if they fell."""
    pairs = [pair for pair in every.values() if is_gating(pair.head, sides.gate)]
    found = together.find(_graded(pairs))
    if found is None or not found.worse or not sides.can_ask:
        return found
    now = await _asked_again(sides, [pair for pair in pairs if pair.base_task])
    fresh = with_verdict(each.base for each in now)
    if not fresh:
        reasons = (pair.base.reason for pair in now if isinstance(pair.base, Errored))
        problem = next(reasons, "it cannot be asked again")
        return replace(found, worse=False, problem=problem)
    same = [pair for pair in pairs if not pair.base_task]
    worse, p_value = together.is_worse(_graded([*now, *same]))
    moved = not worse and together.is_worse(_bases(pairs, now))[0]
    return replace(found, again=len(fresh), again_p_value=p_value, worse=worse, before_moved=moved)


async def _asked_again(sides: Sides, pairs: Sequence[Pair]) -> list[Pair]:
    """Return the pairs with a new answer of the base."""
    tasks = [once(pair.base_task) for pair in pairs if pair.base_task]
    context = again(sides.base_context, reuse=False)
    results = await sides.graded(tasks, [context] * len(tasks))
    return [
        replace(pair, base=result)
        for pair, result in zip(pairs, results, strict=True)
        if result is not None
    ]


def _graded(pairs: Sequence[Pair]) -> list[tuple[Graded, Graded]]:
    return both_graded((pair.head, pair.base) for pair in pairs)


def _bases(before: Sequence[Pair], now: Sequence[Pair]) -> list[tuple[Graded, Graded]]:
    """Return the new and the former result of the base of each pair."""
    then = {pair.head.key: pair.base for pair in before}
    return both_graded((pair.base, then[pair.head.key]) for pair in now)


async def ask_suspects(
    asker: HeadOnly, baseline: RunReport, tasks: Mapping[Key, Task], cases: Sequence[CaseResult]
) -> tuple[CaseResult, ...]:
    """Return the cases; those that are worse than in a report, and failing new ones, asked again.

    How they differ is said when the report of the run is compared.
    """
    matched = counterparts((case.key for case in cases), baseline.cases)
    before = {key: was for key, each in matched.items() for was in with_verdict([each])}
    suspects: dict[Key, Pair] = {}
    failing: dict[Key, tuple[Task, Graded]] = {}
    for case in with_verdict(cases):
        was, task = before.get(case.key), tasks[case.key]
        if was and rule.is_suspect(case, was):
            suspects[case.key] = Pair(head_task=task, base_task=None, head=case, base=was)
        elif was is None and case.status == "fail":
            failing[case.key] = task, case
    settled = await settle(asker, suspects)
    alone = await settle_alone(asker, failing)
    found: dict[Key, CaseResult] = {key: pair.head for key, pair in settled.pairs.items()}
    for key, reason in settled.errored.items():
        found[key] = found[key].as_errored(reason)
    return tuple({**found, **alone}.get(case.key, case) for case in cases)
