"""Breaks under the rubrics of the base, where those of the head differ.

A criterion that nothing meets makes every case fail on both sides, and would excuse every break.
So the answers of both sides are marked under the base's rubrics as well.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rubric_ci.comparison.verdicts import Compared
from rubric_ci.grading.task import Task
from rubric_ci.grading.trials import median_trial
from rubric_ci.model.config import MockTarget
from rubric_ci.model.context import RunContext
from rubric_ci.model.evals import EvalCase
from rubric_ci.model.results import CaseResult, Errored, Graded, Skipped
from rubric_ci.model.trials import first_trials
from rubric_ci.run.base_side import Key
from rubric_ci.run.confirmation import INTERRUPTED, Confirmed, Pair, confirm
from rubric_ci.run.sides import Sides


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answers:
    """The answers of one side to a case, and the task that marks them."""

    task: Task
    texts: Sequence[str]


async def confirm_under_both(sides: Sides, pairs: Mapping[Key, Pair]) -> Confirmed:
    """Return how the pairs differ under the rubrics of the head, and of the base where they differ.

    Both questions share the budget of false alarms.
    """
    rubrics = {key: case for key, case in sides.base.rubrics.items() if key in pairs}
    if not rubrics:
        return await confirm(sides, pairs)
    half = replace(sides.config, false_alarms=sides.config.false_alarms / 2)
    sides = replace(sides, config=half)
    now = await confirm(sides, pairs)
    asked = {
        key: case
        for key, case in rubrics.items()
        if now.compared[key].change != "broken"
        if isinstance(now.pairs[key].head, Graded) and isinstance(now.pairs[key].base, Graded)
    }
    then = await confirm(sides, await _marked_again(sides, now.pairs, asked), ["broken"])
    return Confirmed(
        pairs={**now.pairs, **{key: _spent(now.pairs[key], then.pairs[key]) for key in asked}},
        compared={
            **now.compared,
            **{key: _worse_of(now.compared[key], then.compared[key]) for key in asked},
        },
        further_trials=max(now.further_trials, then.further_trials),
    )


def _worse_of(now: Compared, then: Compared) -> Compared:
    """Return a break under the base's rubrics, or that a failing case lacks its marks there."""
    told = replace(then, reason=f"under the rubrics of the base: {then.reason or 'worse'}")
    if then.change == "broken":
        return told
    unknown = then.change == "not-comparable" and now.change == "failing-before"
    return told if unknown else now


async def _marked_again(
    sides: Sides, pairs: Mapping[Key, Pair], rubrics: Mapping[Key, EvalCase]
) -> Mapping[Key, Pair]:
    """Return the pairs with the same answers, marked under the rubrics of the base."""
    heads = {key: _answers(pairs[key].head_task, pairs[key].head, rubrics[key]) for key in rubrics}
    bases = {key: _answers(pairs[key].base_task, pairs[key].base, rubrics[key]) for key in rubrics}
    head = await _marked(sides, sides.context, heads)
    base = await _marked(sides, sides.base_context, bases)
    return {
        key: Pair(
            head_task=heads[key].task, base_task=bases[key].task, head=head[key], base=base[key]
        )
        for key in rubrics
    }


def _answers(task: Task, result: CaseResult, was: EvalCase) -> _Answers:
    case = replace(
        task.case,
        evaluators=was.evaluators,
        expected_outcome=was.expected_outcome,
        expected_messages=was.expected_messages,
    )
    texts = [t.answer or "" for t in first_trials(result)] if isinstance(result, Graded) else []
    return _Answers(task=replace(task, case=case), texts=texts)


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
    target = MockTarget(name=answers.task.target.name, response=answers.texts[trial])
    return replace(answers.task, target=target, case=replace(answers.task.case, trials=None))


def _whole(answers: _Answers, results: Sequence[CaseResult]) -> CaseResult:
    case = answers.task.case
    if not results or len(results) < len(answers.texts):
        return Errored(file=case.file, line=case.span.line, id=case.id, reason=INTERRUPTED)
    rule = case.trials if case.trials and case.trials.count == len(results) else None
    return median_trial(results, rule)


def _spent(pair: Pair, again: Pair) -> Pair:
    """Return the pair with what the second marks used."""
    return replace(
        pair, head=_with_usage(pair.head, again.head), base=_with_usage(pair.base, again.base)
    )


def _with_usage(result: CaseResult, again: CaseResult) -> CaseResult:
    if isinstance(result, Skipped) or isinstance(again, Skipped):
        return result
    return replace(result, usage=result.usage + again.usage)
