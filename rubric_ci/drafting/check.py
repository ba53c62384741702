"""Check a draft with the reference answer: it must pass, and its variants must be noticed."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from rubric_ci.drafting.reply import Draft
from rubric_ci.evaluators import evaluate
from rubric_ci.model.context import RunContext
from rubric_ci.model.dataclass import dataclass
from rubric_ci.model.evals import EvalCase, RubricSpec
from rubric_ci.model.results import Answer, Assessed, EvaluatorResult, Unassessed
from rubric_ci.model.rubric import Rubric
from rubric_ci.model.usage import NOTHING_USED, Usage
from rubric_ci.probe.figures import Mutation, figures
from rubric_ci.probe.plan import Marks, Plan, Subject, key, mutations, plan

VARIANTS: Final = 4  # of the reference answer that a criterion must notice
_NOT_CONTRASTED: Final = "the answer that the change broke passes this draft"
_DROPPED: Final = "left out: it passes every variant of the reference answer, such as"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedDraft:
    """The draft without criteria that no variant fails, and what to tell its reviewer."""

    draft: Draft
    warnings: tuple[str, ...] = ()
    unchecked: str = ""  # why the reference answer has no marks
    usage: Usage = NOTHING_USED


async def check_draft(
    case: EvalCase, draft: Draft, context: RunContext, *, bad: str = ""
) -> CheckedDraft:
    """Have the judge mark the reference answer, variants of it if it passes, and a bad answer."""
    found = await _of_reference(case, draft, context)
    if not bad or found.unchecked:
        return found
    spec = RubricSpec(name="draft", rubric=found.draft.rubric, span=case.span)
    result = await evaluate(case, Answer(text=bad), spec, context)
    found = replace(found, usage=found.usage + result.usage)
    if isinstance(result, Unassessed):
        return replace(found, unchecked=f"the bad answer: {result.reason}")
    if result.verdict == "pass":
        return replace(found, warnings=(*found.warnings, _NOT_CONTRASTED))
    return found


async def _of_reference(case: EvalCase, draft: Draft, context: RunContext) -> CheckedDraft:
    if not case.reference_answer:
        warning = "there is no reference answer to check the draft with"
        return CheckedDraft(draft=draft, warnings=(warning,))
    spec = RubricSpec(name="draft", rubric=draft.rubric, span=case.span)
    result = await evaluate(case, Answer(text=case.reference_answer), spec, context)
    if isinstance(result, Unassessed):
        return CheckedDraft(draft=draft, unchecked=result.reason, usage=result.usage)
    if result.verdict != "pass":
        return CheckedDraft(draft=draft, warnings=(_failed(result),), usage=result.usage)
    subject = Subject(
        case=case, spec=spec, answer=case.reference_answer, criteria=draft.rubric.judged
    )
    return await _probed(subject, draft, result, context)


def _failed(result: Assessed) -> str:
    missed = ", ".join(c.id for c in result.criteria if c.normalised < 1)
    return (
        f"the reference answer does not pass this draft: {result.verdict}, score {result.score:g}; "
        f"below full marks: {missed}"
    )


async def _probed(
    subject: Subject, draft: Draft, reference: Assessed, context: RunContext
) -> CheckedDraft:
    marks = _marks(reference)
    planned = plan([(subject, marks)], VARIANTS)
    planned = replace(planned, trials=tuple(each for each in planned.trials if each.notice))
    results = await asyncio.gather(
        *(
            evaluate(subject.case, Answer(text=each.variant.text), subject.spec, context)
            for each in planned.trials
        )
    )
    used = sum((each.usage for each in results), reference.usage)
    blind = _blind(subject, planned, marks, results)
    if len(blind) == len(draft.rubric):  # a judge that passes everything says nothing of a draft
        warning = "the judge passes every variant of the reference answer"
        return CheckedDraft(draft=draft, warnings=(warning,), usage=used)
    warnings = tuple(f"{name}: {_DROPPED} {change}" for name, change in blind.items())
    return CheckedDraft(draft=_without(draft, blind), warnings=warnings, usage=used)


def _blind(
    subject: Subject, planned: Plan, marks: Marks, results: Sequence[EvaluatorResult]
) -> dict[str, str]:
    """Return the criteria that never fail, each with the first variant that it passes."""
    judged = {n: _marks(each) for n, each in enumerate(results) if isinstance(each, Assessed)}
    found: dict[str, list[Mutation]] = {}
    for _, criterion, mutation in mutations(planned, judged, {key(subject): marks}):
        found.setdefault(criterion.id, []).append(mutation)
    return {name: own[0].change for name, own in found.items() if figures(own)[2] == "never-fails"}


def _marks(result: Assessed) -> Marks:
    return {each.id: each for each in result.criteria}


def _without(draft: Draft, names: Mapping[str, str]) -> Draft:
    kept = [n for n, each in enumerate(draft.rubric) if each.id not in names]
    return replace(
        draft,
        rubrics=tuple(draft.rubrics[n] for n in kept),
        rubric=Rubric(tuple(draft.rubric.criteria[n] for n in kept)),
    )
