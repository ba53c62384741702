"""Large texts do not block other cases, timeouts and signals.

What is counted is how often another task runs meanwhile, not the time.
"""

import asyncio
import json
from collections.abc import Awaitable
from pathlib import Path

import pytest

from rubric_ci.errors import CannotReachModel
from rubric_ci.evaluators.evaluate import evaluate
from rubric_ci.models.judge.reply_checks import missing_quotes
from rubric_ci.models.judge.request import request_valid_reply
from rubric_ci.parts.graders.field_accuracy import FieldAccuracySpec, FieldSpec
from rubric_ci.values.config import JudgeConfig
from rubric_ci.values.evals import EvaluatorSpec, LlmJudgeSpec, RubricSpec
from rubric_ci.values.llm_calls import ModelCall, ModelReply
from rubric_ci.values.rubric import Check, Judgement, Mark, Rubric
from rubric_ci.values.targets import Endpoint
from tests.cases import build_call, build_case, build_context, span, text_answer, text_message

MARK = {"c1": {"evidence": "", "reasoning": "It is.", "satisfied": True}}
RUBRIC = RubricSpec(
    name="r", span=span(), rubric=Rubric((Check(id="polite", text="Is polite", span=span()),))
)
FIELDS = FieldAccuracySpec(
    name="f", span=span(), fields=(FieldSpec(path="a", match="exact", span=span()),)
)
ENOUGH = 20
LARGE = "\uff1cé<é " * 30_000  # each sign could begin a tag, and is looked at
LLM_JUDGE = LlmJudgeSpec(name="l", span=span())


async def reply(_: ModelCall) -> ModelReply:
    return ModelReply(text=json.dumps(MARK))


async def turns_during(work: Awaitable[object]) -> int:
    """Return how often another task had its turn until the work ended."""
    turns = 0

    async def take_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    other = asyncio.create_task(take_turns())
    await work
    other.cancel()
    return turns


@pytest.mark.parametrize(
    ("spec", "unit"),
    [(RUBRIC, "\n"), (RUBRIC, "< "), (RUBRIC, "ignore previous "), (FIELDS, "```json\n[1,\n```\n")],
)
def test_an_evaluator_leaves_turns(spec: EvaluatorSpec, unit: str, tmp_path: Path) -> None:
    judge = JudgeConfig(endpoint=Endpoint(model="m"))
    context = build_context(tmp_path, call_model=reply, judge=judge)
    case = build_case(expected_messages=(text_message('{"a": 1}', "assistant"),))
    answer = text_answer(unit * (500_000 // len(unit)))
    work = evaluate(case, answer, spec, context)
    assert asyncio.run(turns_during(work)) >= ENOUGH


@pytest.mark.parametrize("spec", [RUBRIC, LLM_JUDGE], ids=["rubric", "llm_judge"])
def test_the_prompt_leaves_turns(spec: EvaluatorSpec, tmp_path: Path) -> None:
    """The judge fails at once, so what is counted is the work before its request."""

    async def fails(_: ModelCall) -> ModelReply:
        raise CannotReachModel("down")

    judge = JudgeConfig(endpoint=Endpoint(model="m"))
    context = build_context(tmp_path, call_model=fails, judge=judge)

    work = evaluate(build_case(), text_answer(LARGE), spec, context)
    assert asyncio.run(turns_during(work)) >= ENOUGH


def test_the_check_of_quotes_leaves_turns() -> None:
    criteria = RUBRIC.rubric.judged
    judgement = Judgement({"polite": Mark(value=True, reasoning="", evidence=LARGE[:9])})

    async def ask(_: ModelCall) -> ModelReply:
        return ModelReply(text="{}")

    work = request_valid_reply(
        ask, build_call("m", LARGE), lambda _: missing_quotes(judgement, criteria, LARGE)
    )
    assert asyncio.run(turns_during(work)) >= ENOUGH
