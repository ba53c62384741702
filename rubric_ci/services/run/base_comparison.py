"""Grade the base side of a change, and say how each case differs from it.

A criterion that nothing meets makes every case fail on both sides, and would excuse every break.
So where the rubrics differ, the answers of both sides are marked under the base's rubrics as well.
"""

from collections import Counter
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from rubric_ci.gate.comparison import verdicts
from rubric_ci.gate.comparison.verdicts import Compared
from rubric_ci.grading.resolve import Task
from rubric_ci.grading.trial_results import median_trial
from rubric_ci.services.run import mean_drop
from rubric_ci.services.run.confirmation import INTERRUPTED, Confirmed, confirm
from rubric_ci.services.run.sides import BaseSide, Key, Sides
from rubric_ci.services.run.suspect import Pair
from rubric_ci.values.changes import NoBase
from rubric_ci.values.comparison import Drop
from rubric_ci.values.config import MockTarget
from rubric_ci.values.context import RunContext
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.llm_calls import NOTHING_USED
from rubric_ci.values.report import Against, RemovedCase
from rubric_ci.values.results import Answer, CaseResult, Change, Errored, Graded, Skipped
from rubric_ci.values.trials import first_trials


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
    """Await the results of the head, and return them with the results of the base.

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
    by_key = {task.case.key: task for task in tasks}
    base = sides.base.tasks
    shared = {key for key, task in base.items() if sides.share_answer(by_key[key], task)}
    known = {case.key: case for case in head}
    asked = {
        key: task
        for key, task in base.items()
        if isinstance(known.get(key), Graded) and key not in shared
    }
    results = await sides.graded(list(asked.values()), sides.base_context, sides.trials)
    pairs = {
        key: Pair(head_task=by_key[key], base_task=task, head=known[key], base=result)
        for key, task in asked.items()
        if (result := results.get(task.case.key))
    }
    confirmed = await confirm_under_both(sides, pairs)
    compared = tuple(_result(case, sides.base, confirmed, shared) for case in head)
    return Outcome(
        results=compared,
        against=_against(ref, sides.base, compared, confirmed),
        removed=sides.base.removed,
    )


def _result(case: CaseResult, base: BaseSide, confirmed: Confirmed, shared: set[Key]) -> CaseResult:
    key = case.key
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
    ref: str, base: BaseSide, results: Sequence[CaseResult], confirmed: Confirmed
) -> Against:
    """Return the base side as the report shows it."""
    sides = [case.before for case in results if isinstance(case, Graded | Errored) and case.before]
    count: Mapping[str, int] = Counter(side.source for side in sides)
    return replace(
        no_answers(ref, base),
        further_trials=confirmed.further_trials,
        drop=confirmed.drop,
        asked=count["asked"],
        reused=count["reused"],
        recorded=count["recorded"],
        shared=count["shared"],
        usage=sum((side.usage for side in sides), NOTHING_USED),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answers:
    """The answers of one side to a case, and the task that marks them."""

    task: Task
    texts: Sequence[str]  # one per trial
    given: Mapping[tuple[Key, int], Answer]  # whole, with the work that the answer is part of


async def confirm_under_both(sides: Sides, pairs: Mapping[Key, Pair]) -> Confirmed:
    """Return how the pairs differ under the rubrics of the head, and of the base where they differ.

    Both questions share the budget of false alarms. Fixes decide nothing before a merge: they are
    asked again where they can move the reference.
    """
    rubrics = {key: case for key, case in sides.base.rubrics.items() if key in pairs}
    if rubrics:
        half = replace(sides.config, false_alarms=sides.config.false_alarms / 2)
        sides = replace(sides, config=half)
    single = replace(sides, config=verdicts.for_cases(sides.config))
    changes: Sequence[Change] = ("broken", "fixed") if sides.base.base.merged else ("broken",)
    found = await mean_drop.find(sides, pairs)
    now = await confirm(single, found.pairs, changes, drop=found.drop)
    if not rubrics:
        return now
    asked = {
        key: case
        for key, case in rubrics.items()
        if now.compared[key].change != "broken"
        if isinstance(now.pairs[key].head, Graded) and isinstance(now.pairs[key].base, Graded)
    }
    marked = await _marked_again(sides, now.pairs, asked)
    under_base = await mean_drop.find(sides, {**now.pairs, **marked})
    pairs_there = {key: under_base.pairs[key] for key in asked}
    then = await confirm(single, pairs_there, ["broken"], under_base.drop)
    return Confirmed(
        drop=_worse_drop(now.drop, then.drop),
        pairs={**now.pairs, **{key: _spent(now.pairs[key], then.pairs[key]) for key in asked}},
        compared={
            **now.compared,
            **{key: _worse_of(now.compared[key], then.compared[key]) for key in asked},
        },
        further_trials=max(now.further_trials, then.further_trials),
    )


def _worse_drop(now: Drop | None, then: Drop | None) -> Drop | None:
    """Return the drop that counts, under either rubrics; else the one that is not decided."""
    found = [drop for drop in (now, then) if drop]
    found.sort(key=lambda drop: (not drop.confirmed, not drop.problem))
    return found[0] if found else None


def _worse_of(now: Compared, then: Compared) -> Compared:
    """Return the change under the base's rubrics if it is worse, or if marks are lacking there."""
    told = replace(then, reason=f"under the rubrics of the base: {then.reason or 'worse'}")
    if _WORSE.get(then.change, 0) > _WORSE.get(now.change, 1):
        return told
    unknown = then.change == "not-comparable" and now.change == "failing-before"
    return told if unknown else now


_WORSE: Final[Mapping[Change, int]] = {"unchanged": 0, "flaky": 1, "suspected": 2, "broken": 3}
"""The order by which one of two changes of a case is shown; others are as `flaky`."""


async def _marked_again(
    sides: Sides, pairs: Mapping[Key, Pair], rubrics: Mapping[Key, EvalCase]
) -> Mapping[Key, Pair]:
    """Return the pairs with the same answers, marked under the rubrics of the base."""
    here, there = sides.context, sides.base_context
    heads = {
        key: _answers(pairs[key].head_task, pairs[key].head, rubrics[key], here) for key in rubrics
    }
    bases = {
        key: _answers(pairs[key].base_task, pairs[key].base, rubrics[key], there) for key in rubrics
    }
    head = await _marked(sides, here, heads)
    base = await _marked(sides, there, bases)
    return {
        key: Pair(
            head_task=heads[key].task, base_task=bases[key].task, head=head[key], base=base[key]
        )
        for key in rubrics
    }


def _answers(task: Task, result: CaseResult, was: EvalCase, context: RunContext) -> _Answers:
    case = replace(
        task.case,
        evaluators=was.evaluators,
        expected_outcome=was.expected_outcome,
        expected_messages=was.expected_messages,
        turns=was.turns,
        metadata=was.metadata,
    )
    texts = [t.answer or "" for t in first_trials(result)] if isinstance(result, Graded) else []
    return _Answers(task=replace(task, case=case), texts=texts, given=context.side.given)


async def _marked(
    sides: Sides, context: RunContext, answers: Mapping[Key, _Answers]
) -> Mapping[Key, CaseResult]:
    """Return the result of each case; every answer is marked as the trial that it is."""
    found: dict[Key, list[CaseResult]] = {key: [] for key in answers}
    for trial in range(max((len(each.texts) for each in answers.values()), default=0)):
        keys = [key for key, each in answers.items() if trial < len(each.texts)]
        tasks = [_given(answers[key], trial) for key in keys]
        for key, result in zip(
            keys, await sides.grade(tasks, replace(context, trial=trial), 1), strict=False
        ):
            found[key].append(result)
    return {key: _whole(answers[key], results) for key, results in found.items()}


def _given(answers: _Answers, trial: int) -> Task:
    """Return the task of marking one answer; it was paid for when it was given."""
    task, text = answers.task, answers.texts[trial]
    whole = answers.given.get((task.case.key, trial))
    did = replace(whole, usage=NOTHING_USED) if whole else None
    target = MockTarget(name=task.target.name, response=text, did=did)
    return replace(task, target=target, case=replace(task.case, trials=None), also=())


def _whole(answers: _Answers, results: Sequence[CaseResult]) -> CaseResult:
    case = answers.task.case
    if not results or len(results) < len(answers.texts):
        return Errored(file=case.file, line=case.span.line, id=case.id, reason=INTERRUPTED)
    rule = case.trials if case.trials and case.trials.count == len(results) else None
    return median_trial(results, rule)


def _spent(pair: Pair, again: Pair) -> Pair:
    """Return the pair with the usage of the second marks."""
    return replace(
        pair, head=_with_usage(pair.head, again.head), base=_with_usage(pair.base, again.base)
    )


def _with_usage(result: CaseResult, again: CaseResult) -> CaseResult:
    if isinstance(result, Skipped) or isinstance(again, Skipped):
        return result
    return replace(result, usage=result.usage + again.usage)
