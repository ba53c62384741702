"""The judge of an evaluator with a `model` of its own."""

import asyncio
from pathlib import Path

import pytest

from rubric_ci.evaluators.evaluate import evaluate
from rubric_ci.values.config import JudgeConfig
from rubric_ci.values.evals import EvaluatorSpec, LlmJudgeSpec, RubricSpec
from rubric_ci.values.llm_calls import ModelCall, ModelReply
from rubric_ci.values.results import Assessed
from rubric_ci.values.rubric import Check, Rubric
from rubric_ci.values.targets import Endpoint
from tests.cases import build_case, build_context, span, text_answer

KIND = Rubric((Check(id="kind", text="Is it kind?", span=span()),))
MARKS = '{"c1": {"evidence": "hello", "reasoning": "kind", "satisfied": true}}'
JUDGE = JudgeConfig(
    endpoint=Endpoint(model="openai/j", options={"api_key": "sk", "temperature": 0}), votes=1
)


@pytest.mark.parametrize("judge", [JUDGE, None], ids=["configured", "none-configured"])
@pytest.mark.parametrize(
    ("spec", "reply"),
    [
        (RubricSpec(name="r", rubric=KIND, model="openai/own", span=span()), MARKS),
        (LlmJudgeSpec(name="l", model="openai/own", span=span()), '{"score": 1}'),
    ],
    ids=["rubric", "llm_judge"],
)
def test_it_is_asked(spec: EvaluatorSpec, reply: str, judge: JudgeConfig | None) -> None:
    asked: list[Endpoint] = []

    async def ask(call: ModelCall) -> ModelReply:
        asked.append(call.endpoint)
        return ModelReply(text=reply)

    context = build_context(Path(), call_model=ask, judge=judge)
    assert isinstance(
        asyncio.run(evaluate(build_case(), text_answer("hello"), spec, context)), Assessed
    )
    (endpoint,) = asked
    assert endpoint.model == "openai/own"
    assert dict(endpoint.options) == ({"api_key": "sk", "temperature": 0} if judge else {})
