"""Which judge marks for an evaluator: the configured one, with the evaluator's own model if set."""

from rubric_ci.errors import NoJudge
from rubric_ci.model.config import Endpoint, JudgeConfig, with_model
from rubric_ci.model.evals import EvaluatorSpec, LlmJudgeSpec, RubricSpec, asks_judge


def judge_of(spec: RubricSpec | LlmJudgeSpec, judge: JudgeConfig | None) -> JudgeConfig:
    """Return the judge of an evaluator; raises NoJudge if neither names one."""
    chosen = with_model(judge, spec.model)
    if chosen is None:
        raise NoJudge
    return chosen


def judge_model(spec: EvaluatorSpec, judge: JudgeConfig | None) -> str:
    """Return the model of an evaluator's judge, or "" if it has none."""
    endpoint = judge_endpoint(spec, judge)
    return endpoint.model if endpoint else ""


def judge_endpoint(spec: EvaluatorSpec, judge: JudgeConfig | None) -> Endpoint | None:
    """Return the endpoint of an evaluator's judge; None if it has none."""
    if not asks_judge(spec):
        return None
    chosen = with_model(judge, spec.model)
    return chosen.endpoint if chosen else None
