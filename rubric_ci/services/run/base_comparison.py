"""Compare the head of a change with its base: ask suspects again, and say how each case differs.

Of all cases together, a drop counts if it shows with new answers of the base as well: those from
the cache are of another day, and a model behind an alias or the judge may have moved since. Where
the other side is a report and cannot be asked, only the head is asked again.

Where the rubrics differ, the answers of both sides are marked by the base's, too: a criterion that
nothing meets makes every case fail on both sides, and would excuse every break. Worse under either
rubrics counts.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from rubric_ci.gate.comparison import rule, verdicts
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
from rubric_ci.services.run.sides import BaseSide, HeadOnly, Sides, again, marked_as
from rubric_ci.values.comparison import Together
from rubric_ci.values.context import RunContext
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.gate import is_gating
from rubric_ci.values.report import Against, RemovedCase, RunReport
from rubric_ci.values.results import (
    Answer,
    CaseResult,
    Change,
    Errored,
    Graded,
    both_graded,
    with_verdict,
)
from rubric_ci.values.targets import MockTarget
from rubric_ci.values.trials import first_trials, median_trial
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
    found = rule.find_together(_graded(pairs))
    if found is None or not found.worse or not sides.can_ask:
        return found
    now = await _asked_again(sides, [pair for pair in pairs if pair.base_task])
    fresh = with_verdict(each.base for each in now)
    if not fresh:
        reasons = (pair.base.reason for pair in now if isinstance(pair.base, Errored))
        problem = next(reasons, "it cannot be asked again")
        return replace(found, worse=False, problem=problem)
    same = [pair for pair in pairs if not pair.base_task]
    worse, p_value = rule.is_worse_together(_graded([*now, *same]))
    moved = not worse and rule.is_worse_together(_bases(pairs, now))[0]
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
    matched = counterparts(cases, baseline.cases)
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


UNDER_BASE: Final = "under the rubrics of the base"
_WORSE: Final[Mapping[Change, int]] = {"unchanged": 0, "not-confirmed": 1, "broken": 2}
"""The order by which one of two changes of a case is shown; others are as `not-confirmed`."""


async def settle_under_both(sides: Sides, pairs: Mapping[Key, Pair]) -> Settled:
    """Return how the pairs differ under the head's rubrics, and under the base's if they differ."""
    now = await settle(sides, pairs)
    rubrics = {key: case for key, case in sides.base.rubrics.items() if key in pairs}
    both = both_graded((pair.head, pair.base) for pair in now.pairs.values())
    graded = {head.key: (head, base) for head, base in both}
    asked = {
        key: case
        for key, case in rubrics.items()
        if now.compared[key].change != "broken" and key not in now.errored
        if key in graded
    }
    if not asked:
        return now
    then = await settle(sides, await _marked_again(sides, pairs, asked))
    return Settled(
        pairs={
            **now.pairs,
            **{key: _spent(now.pairs[key], *graded[key], then.pairs[key]) for key in asked},
        },
        compared={
            **now.compared,
            **{key: _worse_of(now.compared[key], then.compared[key]) for key in asked},
        },
        further=max(now.further, then.further),
        errored={**now.errored, **then.errored},
    )


def _worse_of(now: Compared, then: Compared) -> Compared:
    """Return the change under the base's rubrics if it is worse, or if marks are lacking there."""
    reason = f": {then.reason}" if then.reason else ""
    told = replace(then, reason=f"{UNDER_BASE}{reason}")
    if _WORSE.get(then.change, 0) > _WORSE.get(now.change, 1):
        return told
    unknown = then.change == "not-comparable" and now.change == "failing-before"
    return told if unknown else now


@dataclass(frozen=True, slots=True, kw_only=True)
class _Given:
    """The first answers of one side to a case, and the task that marks them."""

    task: Task
    texts: Sequence[str]  # one per trial
    whole: Mapping[tuple[Key, int], Answer]  # with the work that the answer is part of


async def _marked_again(
    sides: Sides, pairs: Mapping[Key, Pair], rubrics: Mapping[Key, EvalCase]
) -> Mapping[Key, Pair]:
    """Return the pairs with the same first answers, marked under the rubrics of the base."""
    here, there = sides.context, sides.base_context
    heads = [_given(pairs[k].head_task, pairs[k].head, each, here) for k, each in rubrics.items()]
    bases = [
        _given(pairs[k].base_task or pairs[k].head_task, pairs[k].base, each, there)
        for k, each in rubrics.items()
    ]
    head, base = await _marked(sides, here, heads), await _marked(sides, there, bases)
    return {
        key: Pair(
            head_task=heads[n].task,
            base_task=bases[n].task if pairs[key].base_task else None,
            head=head[n],
            base=base[n],
        )
        for n, key in enumerate(rubrics)
    }


def _given(task: Task, result: CaseResult, was: EvalCase, context: RunContext) -> _Given:
    task = replace(task, case=marked_as(task.case, was))
    texts = [t.answer or "" for each in with_verdict([result]) for t in first_trials(each)]
    return _Given(task=task, texts=texts, whole=context.side.given)


async def _marked(
    sides: Sides, context: RunContext, given: Sequence[_Given]
) -> Sequence[CaseResult]:
    """Return the result of each case; every answer is marked as the trial that it is."""
    places = [(n, trial) for n, each in enumerate(given) for trial in range(len(each.texts))]
    tasks = [_of_answer(given[n], trial) for n, trial in places]
    contexts = [context.for_trial(trial) for _, trial in places]
    results: list[list[CaseResult]] = [[] for _ in given]
    for (n, _), result in zip(places, await sides.graded(tasks, contexts), strict=True):
        results[n] += [result] if result else []
    return [_median(each, found) for each, found in zip(given, results, strict=True)]


def _of_answer(given: _Given, trial: int) -> Task:
    """Return the task of marking one answer; it was paid for when it was given."""
    task, text = given.task, given.texts[trial]
    whole = given.whole.get((task.case.key, trial))
    did = replace(whole, usage=NOTHING_USED) if whole else None
    target = MockTarget(name=task.target.name, response=text, did=did)
    return replace(task, target=target, case=replace(task.case, trials=None), also=())


def _median(given: _Given, results: Sequence[CaseResult]) -> CaseResult:
    case = given.task.case
    if not results or len(results) < len(given.texts):
        return Errored(file=case.file, line=case.span.line, id=case.id, reason=INTERRUPTED)
    rule = case.trials if case.trials and case.trials.count == len(results) else None
    return median_trial(results, rule)


def _spent(pair: Pair, head: Graded, base: Graded, again: Pair) -> Pair:
    """Return the pair with the usage of the second marks."""
    return replace(
        pair,
        head=replace(head, usage=head.usage + again.head.usage),
        base=replace(base, usage=base.usage + again.base.usage),
    )
