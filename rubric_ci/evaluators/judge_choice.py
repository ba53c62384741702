"""The judge of an evaluator: the configured one, with the evaluator's own model if set."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from rubric_ci.errors import NoJudge
from rubric_ci.values.config import JudgeConfig
from rubric_ci.values.evals import (
    EvaluatorSpec,
    LlmJudgeSpec,
    RubricSpec,
    SimulatedUser,
    asks_judge,
)
from rubric_ci.values.judge_model import with_model

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
