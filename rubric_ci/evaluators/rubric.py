"""The `rubric` evaluator: a judge marks all criteria of a rubric in one request."""

from collections.abc import Sequence

from rubric_ci.evaluators.judge_choice import judge_of
from rubric_ci.judge.evidence import missing_quotes
from rubric_ci.judge.injection_scan import scan_for_injection
from rubric_ci.judge.panel import PanelRequest, PanelResult, decide
from rubric_ci.judge.voting import flakiness
from rubric_ci.model.context import RunContext
from rubric_ci.model.evals import EvalCase, RubricSpec
from rubric_ci.model.mark_value import MarkValue
from rubric_ci.model.results import Answer, Assessment, CriterionResult
from rubric_ci.model.rubric import Check, Criterion, Levelled, Mark, Scored, met, scale
from rubric_ci.model.scoring import score
from rubric_ci.system.text_work import worked_on


async def rubric(
    case: EvalCase, answer: Answer, spec: RubricSpec, context: RunContext
) -> Assessment:
    """Request the judge's marks and weigh them; raises NoVerdict if it gives none."""
    judge = judge_of(spec, context.judge)
    request = PanelRequest(
        case=case,
        answer=answer.text,
        rubric=spec.rubric,
        judge=judge,
        context=context,
        about=f"{case.file}: {case.id}: {spec.name}",
    )
    marked = await decide(request)
    judgement = marked.judgement
    result = score(spec.rubric, judgement, context.thresholds)
    warnings = await worked_on(len(answer.text), _warnings, case, answer, spec, marked)
    return Assessment(
        score=result.value,
        gated_by=result.gated_by,
        reasoning=judgement.reasoning,
        criteria=tuple(
            _criterion_result(c, judgement[c.id], marked.votes.get(c.id, ())) for c in spec.rubric
        ),
        warnings=warnings,
        judge=judge.endpoint.model,
        marks=len(spec.rubric.criteria),
        cached_marks=len(marked.cached),
        usage=marked.usage,
    )


def _criterion_result(
    criterion: Criterion, mark: Mark, votes: tuple[MarkValue, ...] = ()
) -> CriterionResult:
    return CriterionResult(
        id=criterion.id,
        kind=criterion.kind,
        line=criterion.span.line,
        text=_one_line(criterion),
        weight=criterion.weight,
        mark=mark.value,
        normalised=criterion.normalise(mark),
        gated=criterion.gates(mark),
        gate=_gate(criterion),
        met=" ".join(met(criterion, mark).split()),
        reasoning=mark.reasoning,
        evidence=mark.evidence,
        votes=votes,
    )


def _one_line(criterion: Criterion) -> str:
    # NOTE: prompts of composites contain this text, so a change misses their cached judgements.
    return " ".join((criterion.text or "; ".join(scale(criterion, names=False))).split())


def _warnings(
    case: EvalCase, answer: Answer, spec: RubricSpec, marked: PanelResult
) -> tuple[str, ...]:
    texts = [criterion.text for criterion in spec.rubric if criterion.text]
    return (
        *missing_quotes(marked.judgement, spec.rubric.criteria, answer.text),
        *map(str, scan_for_injection(answer.text, question=case.question, criteria=texts)),
        *(
            f"{name} is flaky: {_agreement(marks)}"
            for name, marks in marked.votes.items()
            if flakiness(marks) > 0
        ),
    )


def _agreement(marks: Sequence[MarkValue]) -> str:
    agreeing = round((1 - flakiness(marks)) * len(marks))
    return f"{agreeing} of {len(marks)} votes agree" if agreeing > 1 else "no two votes agree"


def _gate(criterion: Criterion) -> str:
    match criterion:
        case Check(required=True):
            return "required"
        case Scored(required_min_score=int(minimum)):
            return f"score >= {minimum}"
        case Levelled(required_min_level=int(minimum)):
            return f"level >= {minimum}"
        case _:
            return ""
