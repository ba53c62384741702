"""The judge of an evaluator: the configured one, or one with another model and fewer options."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from rubric_ci.errors import NoJudge
from rubric_ci.values.config import JudgeConfig
from rubric_ci.values.evals import EvaluatorSpec, LlmJudgeSpec, RubricSpec, asks_judge
from rubric_ci.values.hosts import CREDENTIALS
from rubric_ci.values.json_value import JSON
from rubric_ci.values.messages import SimulatedUser
from rubric_ci.values.targets import Endpoint

SILENT_JUDGE: Final = re.compile("^the judge (.+?) gave no marks: ")
"""A warning on a judge of a panel."""


def silent_judges(reasons: Mapping[str, str]) -> Iterator[str]:
    """Yield a warning for each judge of a panel that gave no marks, by its name."""
    for name, reason in reasons.items():
        yield f"the judge {name} gave no marks: {reason}"


def judge_of(
    spec: RubricSpec | LlmJudgeSpec | SimulatedUser, judge: JudgeConfig | None
) -> JudgeConfig:
    """Return the judge with the evaluator's or user's model; raises NoJudge if none is named."""
    chosen = with_model(judge, spec.model)
    if chosen is None:
        raise NoJudge
    return chosen


def judge_model(spec: EvaluatorSpec, judge: JudgeConfig | None) -> str:
    """Return the model of an evaluator's judge, or "" if it has none."""
    chosen = judge_if_any(spec, judge)
    return chosen.name if chosen else ""


def judge_if_any(spec: EvaluatorSpec, judge: JudgeConfig | None) -> JudgeConfig | None:
    """Return the judge of an evaluator; None if it has none."""
    return with_model(judge, spec.model) if asks_judge(spec) else None


def with_model(judge: JudgeConfig | None, model: str) -> JudgeConfig | None:
    """Return the judge with another model; "" keeps its own.

    The host, the key and the headers of the judge are kept for models of the same provider only.
    """
    if not model:
        return judge
    own = judge.endpoint.model if judge and not judge.endpoint.command else ""
    if judge is None or not own or model.partition("/")[0] != own.partition("/")[0]:
        return with_named_model(judge, model)
    return judge.alone(replace(judge.endpoint, model=model))


def with_named_model(judge: JudgeConfig | None, model: str) -> JudgeConfig:
    """Return the judge with a model that the command line names, at its provider's own host.

    A host or a key of the configuration was not named with it, and is dropped.
    """
    if judge is None:
        return JudgeConfig(endpoint=Endpoint(model=model))
    if judge.endpoint.command:
        return judge.alone(Endpoint(model=model))
    options = {
        key: value for key, value in judge.endpoint.options.items() if not _connects(key, value)
    }
    return judge.alone(replace(judge.endpoint, model=model, options=options, identity=None))


def _connects(key: str, value: JSON) -> bool:
    """Return True for an option that chooses the server or gives it a key."""
    named = key in CREDENTIALS or key.startswith("api_") or key == "custom_llm_provider"
    return named or (isinstance(value, str) and "://" in value)
