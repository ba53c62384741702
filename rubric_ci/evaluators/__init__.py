"""Each evaluator takes a case, an answer and its spec, and gives a result."""

from dataclasses import replace
from typing import assert_never

from rubric_ci.errors import NoVerdict
from rubric_ci.evaluators import code_judge, limits
from rubric_ci.evaluators.composite import composite
from rubric_ci.evaluators.field_accuracy import field_accuracy
from rubric_ci.evaluators.llm_judge import llm_judge
from rubric_ci.evaluators.rubric import rubric
from rubric_ci.evaluators.tool_trajectory import tool_trajectory
from rubric_ci.model.context import RunContext
from rubric_ci.model.evals import (
    CodeJudgeSpec,
    CompositeSpec,
    EvalCase,
    EvaluatorSpec,
    LlmJudgeSpec,
    RubricSpec,
)
from rubric_ci.model.evaluators import (
    CostSpec,
    FieldAccuracySpec,
    LatencySpec,
    MeasuringSpec,
    TokenUsageSpec,
    ToolTrajectorySpec,
)
from rubric_ci.model.results import Answer, EvaluatorResult, Unassessed
from rubric_ci.system.masking import redact


async def evaluate(
    case: EvalCase, answer: Answer, spec: EvaluatorSpec, context: RunContext
) -> EvaluatorResult:
    """Let the evaluator of this type assess the answer; one that cannot says why."""
    try:
        return await _evaluate(case, answer, spec, context)
    except NoVerdict as error:
        return Unassessed(
            name=spec.name,
            type=spec.type,
            weight=spec.weight,
            line=spec.span.line,
            reason=str(error),
            judge=_judge(spec, context),
            usage=error.usage,
        )


def _judge(spec: EvaluatorSpec, context: RunContext) -> str:
    match spec:
        case RubricSpec(model=own) | LlmJudgeSpec(model=own):
            return own or (context.judge.endpoint.model if context.judge else "")
        case _:
            return ""


async def _evaluate(
    case: EvalCase, answer: Answer, spec: EvaluatorSpec, context: RunContext
) -> EvaluatorResult:
    match spec:
        case RubricSpec():
            return await rubric(case, _for_judges(answer), spec, context)
        case LlmJudgeSpec():
            return await llm_judge(case, _for_judges(answer), spec, context)
        case CodeJudgeSpec():
            return await code_judge.evaluate(case, answer, spec, context)
        case CompositeSpec():
            return await composite(case, answer, spec, context, evaluate)
        case _:
            return _measure(case, answer, spec, context)


def _for_judges(answer: Answer) -> Answer:
    """Return what may leave the machine: an answer without the secrets of this process."""
    return replace(answer, text=redact(answer.text))


def _measure(
    case: EvalCase, answer: Answer, spec: MeasuringSpec, context: RunContext
) -> EvaluatorResult:
    match spec:
        case LatencySpec():
            return limits.latency(answer, spec, context)
        case CostSpec():
            return limits.cost(answer, spec, context)
        case TokenUsageSpec():
            return limits.token_usage(answer, spec, context)
        case FieldAccuracySpec():
            return field_accuracy(case, answer, spec, context)
        case ToolTrajectorySpec():
            return tool_trajectory(answer, spec, context)
        case _:
            assert_never(spec)
