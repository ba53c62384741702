"""Both rulers: where the rubrics differ, the answers of both sides are marked by the base's, too.

A criterion that nothing meets makes every case fail on both sides, and would excuse every break.
Worse under either rubrics counts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from rubric_ci.gate.comparison.verdicts import Compared
from rubric_ci.grading.resolve import Task
from rubric_ci.grading.trial_results import median_trial
from rubric_ci.services.run.asking import INTERRUPTED, Key, Pair, Settled, settle
from rubric_ci.services.run.sides import Sides
from rubric_ci.values.config import MockTarget
from rubric_ci.values.context import RunContext
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.results import (
    Answer,
    CaseResult,
    Change,
    Errored,
    Graded,
    both_graded,
    with_verdict,
)
from rubric_ci.values.trials import first_trials
from rubric_ci.values.usage import NOTHING_USED

UNDER_BASE: Final = "Under the rubrics of the base"
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
    case = replace(
        task.case,
        evaluators=was.evaluators,
        expected_outcome=was.expected_outcome,
        expected_messages=was.expected_messages,
        turns=was.turns,
        metadata=was.metadata,
    )
    texts = [t.answer or "" for each in with_verdict([result]) for t in first_trials(each)]
    return _Given(task=replace(task, case=case), texts=texts, whole=context.side.given)


async def _marked(
    sides: Sides, context: RunContext, given: Sequence[_Given]
) -> Sequence[CaseResult]:
    """Return the result of each case; every answer is marked as the trial that it is."""
    places = [(n, trial) for n, each in enumerate(given) for trial in range(len(each.texts))]
    tasks = [_of_answer(given[n], trial) for n, trial in places]
    contexts = [context.of_trial(trial) for _, trial in places]
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
