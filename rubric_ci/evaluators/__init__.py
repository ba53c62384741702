"""Evaluators: each takes a case, an answer and its spec, and returns an assessment."""

from typing import assert_never

from rubric_ci.errors import NoVerdict
from rubric_ci.evaluators import code_judge, limits
from rubric_ci.evaluators.composite import composite
from rubric_ci.evaluators.field_accuracy import field_accuracy
from rubric_ci.evaluators.judge_choice import judge_model
from rubric_ci.evaluators.llm_judge import llm_judge
from rubric_ci.evaluators.rubric import for_judges, rubric
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
from rubric_ci.model.results import Answer, Assessment, EvaluatorResult, assessed, unassessed
from rubric_ci.system.text_work import worked_on


async def evaluate(
    case: EvalCase, answer: Answer, spec: EvaluatorSpec, context: RunContext
) -> EvaluatorResult:
    """Return the score and the verdict of one evaluator, or the reason why it has none."""
    try:
        found = await _assess(case, answer, spec, context)
    except NoVerdict as error:
        judge = judge_model(spec, context.judge)
        return unassessed(spec, str(error), judge=judge, usage=error.usage)
    return assessed(spec, found, context.thresholds)


async def _assess(
    case: EvalCase, answer: Answer, spec: EvaluatorSpec, context: RunContext
) -> Assessment:
    match spec:
        case RubricSpec() | LlmJudgeSpec():
            return await _by_judge(case, answer, spec, context)
        case CodeJudgeSpec():
            return await code_judge.code_judge(case, answer, spec, context)
        case CompositeSpec():
            return await composite(case, answer, spec, context, evaluate)
        case _:
            return await worked_on(len(answer.text), _measure, case, answer, spec)


async def _by_judge(
    case: EvalCase, answer: Answer, spec: RubricSpec | LlmJudgeSpec, context: RunContext
) -> Assessment:
    """Return the assessment that the estimate found in the cache, or let the judge mark."""
    shown = for_judges(answer)
    if found := context.found.take(case, spec, context.trial, shown.text):
        return found
    if isinstance(spec, RubricSpec):
        return await rubric(case, answer, spec, context)
    return await llm_judge(case, shown, spec, context)


def _measure(case: EvalCase, answer: Answer, spec: MeasuringSpec) -> Assessment:
    match spec:
        case LatencySpec():
            return limits.latency(answer, spec)
        case CostSpec():
            return limits.cost(answer, spec)
        case TokenUsageSpec():
            return limits.token_usage(answer, spec)
        case FieldAccuracySpec():
            return field_accuracy(case, answer, spec)
        case ToolTrajectorySpec():
            return tool_trajectory(answer, spec)
        case _:
            assert_never(spec)
