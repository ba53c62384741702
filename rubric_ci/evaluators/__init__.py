"""Each evaluator takes a case, an answer and its spec, and gives a result."""

from typing import assert_never

from rubric_ci.errors import NoVerdict
from rubric_ci.evaluators import code_judge, limits
from rubric_ci.evaluators.composite import composite
from rubric_ci.evaluators.field_accuracy import field_accuracy
from rubric_ci.evaluators.llm_judge import llm_judge
from rubric_ci.evaluators.rubric import rubric
from rubric_ci.evaluators.tool_trajectory import tool_trajectory
from rubric_ci.model.context import Tools
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


async def evaluate(
    case: EvalCase, answer: Answer, spec: EvaluatorSpec, tools: Tools
) -> EvaluatorResult:
    """Let the evaluator of this type assess the answer; one that cannot says why."""
    try:
        return await _evaluate(case, answer, spec, tools)
    except NoVerdict as error:
        return Unassessed(
            name=spec.name,
            type=spec.type,
            weight=spec.weight,
            line=spec.span.line,
            reason=str(error),
            judge=_judge(spec, tools),
            usage=error.usage,
        )


def _judge(spec: EvaluatorSpec, tools: Tools) -> str:
    match spec:
        case RubricSpec(model=own) | LlmJudgeSpec(model=own):
            return own or (tools.judge.endpoint.model if tools.judge else "")
        case _:
            return ""


async def _evaluate(
    case: EvalCase, answer: Answer, spec: EvaluatorSpec, tools: Tools
) -> EvaluatorResult:
    match spec:
        case RubricSpec():
            return await rubric(case, answer, spec, tools)
        case LlmJudgeSpec():
            return await llm_judge(case, answer, spec, tools)
        case CodeJudgeSpec():
            return await code_judge.evaluate(case, answer, spec, tools)
        case CompositeSpec():
            return await composite(case, answer, spec, tools, evaluate)
        case _:
            return _measure(case, answer, spec, tools)


def _measure(case: EvalCase, answer: Answer, spec: MeasuringSpec, tools: Tools) -> EvaluatorResult:
    match spec:
        case LatencySpec():
            return limits.latency(answer, spec, tools)
        case CostSpec():
            return limits.cost(answer, spec, tools)
        case TokenUsageSpec():
            return limits.token_usage(answer, spec, tools)
        case FieldAccuracySpec():
            return field_accuracy(case, answer, spec, tools)
        case ToolTrajectorySpec():
            return tool_trajectory(answer, spec, tools)
        case _:
            assert_never(spec)
