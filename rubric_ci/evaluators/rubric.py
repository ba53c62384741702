"""Marks an answer against the criteria of a rubric: one request to a judge carries them all."""

import secrets
from dataclasses import replace

from rubric_ci.errors import CannotConfigure, CannotJudge
from rubric_ci.judging.canary import with_canary, without_canary
from rubric_ci.judging.dialogue import Heard, ask_until_usable
from rubric_ci.judging.evidence import missing_quotes, with_quotes
from rubric_ci.judging.extract import Wrong
from rubric_ci.judging.prompt import rubric_call
from rubric_ci.judging.reply import read_marks
from rubric_ci.judging.suspicion import suspicions
from rubric_ci.model.config import JudgeConfig
from rubric_ci.model.evals import EvalCase, RubricSpec
from rubric_ci.model.report import Answer, Assessed, CriterionResult, EvaluatorResult
from rubric_ci.model.rubric import Check, Criterion, Judgement, Levelled, Mark, Scored
from rubric_ci.model.scoring import score
from rubric_ci.model.tools import Tools


async def rubric(case: EvalCase, answer: Answer, spec: RubricSpec, tools: Tools) -> EvaluatorResult:
    """Ask the judge, weigh its marks; raises CannotJudge when it gives none."""
    judge = configured_judge(tools)
    heard = await _marks(case, answer, spec, judge, tools)
    result = score(spec.rubric, heard.value, tools.thresholds)
    return Assessed(
        name=spec.name,
        type=spec.type,
        weight=spec.weight,
        line=spec.span.line,
        score=result.value,
        verdict=result.verdict.value,
        gated_by=result.gated_by,
        reasoning=heard.value.reasoning,
        criteria=tuple(criterion_result(c, heard.value[c.id]) for c in spec.rubric),
        warnings=_warnings(case, answer, spec, heard.value),
        usage=heard.usage,
    )


def configured_judge(tools: Tools) -> JudgeConfig:
    """Return the judge, or say that none is configured."""
    if tools.judge is None:
        raise CannotConfigure(
            "no judge is configured", "set `judge: {model: ...}` in rubric-ci.yaml, or use --judge"
        )
    return tools.judge


def criterion_result(criterion: Criterion, mark: Mark) -> CriterionResult:
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
    )


async def _marks(
    case: EvalCase, answer: Answer, spec: RubricSpec, judge: JudgeConfig, tools: Tools
) -> Heard[Judgement]:
    criteria = spec.rubric.criteria
    asked = with_canary(criteria, answer.text) if judge.canary else criteria

    def read(text: str) -> Judgement | Wrong:
        judgement = read_marks(text, asked)
        strict = judge.evidence == "strict"
        return with_quotes(judgement, criteria, answer.text) if strict else judgement

    call = rubric_call(
        case,
        answer.text,
        asked,
        judge,
        fence=secrets.token_hex(8),
        about=f"{case.file}: {case.id}: {spec.name}",
    )
    heard = await ask_until_usable(tools.ask, call, read)
    return _trusted(heard) if judge.canary else heard


def _trusted(heard: Heard[Judgement]) -> Heard[Judgement]:
    try:
        return replace(heard, value=without_canary(heard.value))
    except CannotJudge as error:
        error.usage = heard.usage
        raise


def _warnings(
    case: EvalCase, answer: Answer, spec: RubricSpec, judgement: Judgement
) -> tuple[str, ...]:
    texts = [criterion.text for criterion in spec.rubric if criterion.text]
    return (
        *missing_quotes(judgement, spec.rubric.criteria, answer.text),
        *map(str, suspicions(answer.text, question=case.question, criteria=texts)),
    )


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
