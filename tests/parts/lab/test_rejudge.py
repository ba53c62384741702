"""Marks of another model say nothing of the judge."""

from pathlib import Path

import pytest

from rubric_ci.parts.lab.rejudge import AnswerToJudge, Judging, NotJudged, rejudge
from rubric_ci.values.config import JudgeConfig
from rubric_ci.values.evals import RubricSpec
from rubric_ci.values.llm_calls import ModelCall, ModelReply
from rubric_ci.values.results import Answer
from rubric_ci.values.rubric import Check, Rubric
from rubric_ci.values.targets import Endpoint
from tests.cases import build_case, build_context, span

MARK = '{"c1": {"evidence": "", "reasoning": "Yes.", "satisfied": true}}'


@pytest.mark.parametrize("model", ["gpt-6-sol", ""])
def test_a_reply_of_another_model_does_not_count(model: str, tmp_path: Path) -> None:
    async def ask(_: ModelCall) -> ModelReply:
        return ModelReply(text=MARK, model=model, fallback=True)

    rubric = Rubric((Check(id="greets", text="Greets", span=span()),))
    answer = AnswerToJudge(
        case=build_case(),
        spec=RubricSpec(name="rubric", rubric=rubric, span=span()),
        answer=Answer(text="Hello"),
        judge=JudgeConfig(endpoint=Endpoint(model="openai/gpt-6-luna")),
    )
    context = build_context(tmp_path, call_model=ask)
    judging = Judging(judge=answer.judge, context=context, concurrency=1, live=False)
    result = rejudge([answer], judging)
    shown = f"`{model}`" if model else "another model"
    assert result.marks == (
        NotJudged(
            reason=f"{shown} replied in place of `openai/gpt-6-luna`, which does not count for a "
            "calibration"
        ),
    )
