"""Marks an answer against the criteria of a rubric: one request to a judge carries them all."""

from collections.abc import Sequence

from rubric_ci.errors import CannotConfigure
from rubric_ci.judge.evidence import missing_quotes
from rubric_ci.judge.injection_scan import scan_for_injection
from rubric_ci.judge.panel import Decision, Question, decide
from rubric_ci.judge.voting import flakiness
from rubric_ci.model.config import JudgeConfig, with_model
from rubric_ci.model.context import RunContext
from rubric_ci.model.evals import EvalCase, RubricSpec
from rubric_ci.model.results import Answer, Assessed, CriterionResult, EvaluatorResult
from rubric_ci.model.rubric import Check, Criterion, Levelled, Mark, MarkValue, Scored
from rubric_ci.model.scoring import score


async def rubric(
    case: EvalCase, answer: Answer, spec: RubricSpec, context: RunContext
) -> EvaluatorResult:
    """Ask the judge, weigh its marks; raises CannotJudge when it gives none."""
    judge = chosen_judge(context, spec.model)
    decision = await decide(
        Question(
            case=case,
            answer=answer.text,
            rubric=spec.rubric,
            judge=judge,
            context=context,
            about=f"{case.file}: {case.id}: {spec.name}",
        )
    )
    result = score(spec.rubric, decision.judgement, context.thresholds)
    return Assessed(
        name=spec.name,
        type=spec.type,
        weight=spec.weight,
        line=spec.span.line,
        score=result.value,
        verdict=result.verdict.value,
        gated_by=result.gated_by,
        reasoning=decision.judgement.reasoning,
        criteria=tuple(
            criterion_result(c, decision.judgement[c.id], decision.votes.get(c.id, ()))
            for c in spec.rubric
        ),
        warnings=_warnings(case, answer, spec, decision),
        judge=judge.endpoint.model,
        marks=len(spec.rubric.criteria),
        cached_marks=len(decision.cached),
        usage=decision.usage,
    )


def chosen_judge(context: RunContext, model: str) -> JudgeConfig:
    """Return the judge, with the evaluator's own model if it has one."""
    if model:
        return with_model(context.judge, model)
    if context.judge is None:
        raise CannotConfigure(
            "no judge is configured", "set `judge: {model: ...}` in rubric-ci.yaml, or use --judge"
        )
    return context.judge


def criterion_result(
    criterion: Criterion, mark: Mark, votes: tuple[MarkValue, ...] = ()
) -> CriterionResult:
    """Return what a report says about one criterion."""
    return CriterionResult(
        id=criterion.id,
        kind=criterion.kind,
        line=criterion.span.line,
        text=_asked(criterion),
        weight=criterion.weight,
        mark=mark.value,
        normalised=criterion.normalise(mark),
        gated=criterion.gates(mark),
        gate=_gate(criterion),
        reasoning=mark.reasoning,
        evidence=mark.evidence,
        votes=votes,
    )


def _warnings(
    case: EvalCase, answer: Answer, spec: RubricSpec, decision: Decision
) -> tuple[str, ...]:
    texts = [criterion.text for criterion in spec.rubric if criterion.text]
    return (
        *missing_quotes(decision.judgement, spec.rubric.criteria, answer.text),
        *map(str, scan_for_injection(answer.text, question=case.question, criteria=texts)),
        *(
            f"{name} is flaky: {_agreement(marks)}"
            for name, marks in decision.votes.items()
            if flakiness(marks) > 0
        ),
    )


def _agreement(marks: Sequence[MarkValue]) -> str:
    agreeing = round((1 - flakiness(marks)) * len(marks))
    return f"{agreeing} of {len(marks)} votes agree" if agreeing > 1 else "no two votes agree"


def _asked(criterion: Criterion) -> str:
    match criterion:
        case Scored(text="", ranges=ranges):
            text = "; ".join(f"{r.low}-{r.high}: {r.text}" for r in ranges)
        case Levelled(text="", levels=levels):
            text = "; ".join(f"{step.level}: {step.text}" for step in levels)
        case _:
            text = criterion.text
    return " ".join(text.split())


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
