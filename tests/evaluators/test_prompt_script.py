"""A script prints the prompt of a judge."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from rubric_ci.evaluators.evaluate import evaluate
from rubric_ci.values.config import JudgeConfig
from rubric_ci.values.evals import LlmJudgeSpec
from rubric_ci.values.llm_calls import ModelCall, ModelReply
from rubric_ci.values.results import Assessed, EvaluatorResult, Unassessed
from rubric_ci.values.targets import Endpoint
from tests import platforms
from tests.cases import build_case, build_context, build_script, span, text_answer

pytestmark = platforms.SHELL


def judged(root: Path, script: str, **facts: Any) -> tuple[EvaluatorResult, list[str]]:
    asked: list[str] = []

    async def ask(call: ModelCall) -> ModelReply:
        asked.append(call.messages[-1].content)
        return ModelReply(text='{"score": 0.9}')

    spec = LlmJudgeSpec(name="taste", prompt_script=build_script(script, **facts), span=span())
    context = build_context(
        root, call_model=ask, judge=JudgeConfig(endpoint=Endpoint(model="openai/j"))
    )
    return asyncio.run(evaluate(build_case(), text_answer("hello"), spec, context)), asked


def test_what_it_prints_is_the_template(tmp_path: Path) -> None:
    result, asked = judged(tmp_path, "cat > seen; echo 'Taste {{ answer }} well'", config={"a": 1})
    assert isinstance(result, Assessed)
    assert result.score == 0.9
    assert asked[0].startswith("Taste <answer_")
    assert "\nhello\n</answer_" in asked[0]
    assert json.loads((tmp_path / "seen").read_text())["config"] == {"a": 1}


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        pytest.param(
            "true", "the prompt script printed no prompt: exit status 0, no output", id="nothing"
        ),
        pytest.param(
            "echo half; echo broken >&2; exit 2",
            "the prompt script printed no prompt: exit status 2: broken",
            id="failed",
        ),
        pytest.param("sleep 9", "`sleep 9` did not end within 0.3 s and was killed", id="timeout"),
    ],
)
def test_no_prompt_no_verdict(script: str, reason: str, tmp_path: Path) -> None:
    result, asked = judged(tmp_path, script, timeout_seconds=0.3 if "sleep" in script else 60.0)
    assert isinstance(result, Unassessed)
    assert (result.reason, asked) == (reason, [])


def test_an_unknown_variable_is_named(tmp_path: Path) -> None:
    result, _ = judged(tmp_path, "echo '{{ anser }}'")
    assert isinstance(result, Unassessed)
    assert result.reason.startswith(
        "the output of the prompt script of taste uses unknown variables: {{ anser }}; known: "
    )
