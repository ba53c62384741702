"""Free-form scores, and templates with unknown variables."""

from pathlib import Path

import pytest

from rubric_ci.errors import CannotJudge
from rubric_ci.evaluators.llm_judge import llm_judge
from rubric_ci.values.config import JudgeConfig
from rubric_ci.values.context import RunContext
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.evals import EvalCase, LlmJudgeSpec
from rubric_ci.values.llm_calls import ModelCall, ModelReply
from rubric_ci.values.results import Answer, Assessment
from rubric_ci.values.targets import Endpoint
from rubric_ci.values.usage import Usage
from tests.cases import marked_by

SPAN = Span(3, 1, 3, 2)
CASE = EvalCase(id="a", file="a.yaml", span=SPAN)


def judged(prompt: str, *texts: str, path: str = "") -> tuple[Assessment, list[str]]:
    left, seen = list(texts), []

    async def ask(call: ModelCall) -> ModelReply:
        seen.append(call.messages[1].content)
        return ModelReply(text=left.pop(0), usage=Usage(calls=1))

    context = RunContext(
        call_model=ask,
        root=Path(),
        environment={},
        judge=JudgeConfig(endpoint=Endpoint(model="openai/m")),
    )
    spec = LlmJudgeSpec(name="taste", weight=0.5, prompt=prompt, prompt_path=path, span=SPAN)
    return marked_by(llm_judge(CASE, Answer(text="Hi"), spec, context)), seen


def test_a_score_in_full() -> None:
    reply = '{"reasoning": "Short.", "hits": ["a"], "misses": ["b", "c"], "score": 0.61234567}'
    result, seen = judged("Is {{ answer }} nice?", reply)
    assert result == Assessment(
        judge="openai/m",
        marks=1,
        score=0.612346,
        reasoning="Short.",
        hits=("a",),
        misses=("b", "c"),
        usage=Usage(calls=1),
    )
    assert "\nHi\n</answer_" in seen[0]


def test_it_is_repaired_like_a_judgement() -> None:
    result, seen = judged("", "eight out of ten", '{"score": 0.8}')
    assert (result.score, result.usage.repairs) == (0.8, 1)
    assert len(seen) == 2


def test_eight_is_not_clamped() -> None:
    with pytest.raises(CannotJudge, match='"score": Input should be less than or equal to 1'):
        judged("", *['{"score": 8}'] * 3)


def test_an_unknown_variable_is_named() -> None:
    with pytest.raises(CannotJudge) as ended:
        judged("{{ anser }} and {{ x }}", path="prompts/taste.md")
    assert str(ended.value) == (
        "prompts/taste.md of taste uses unknown variables: {{ anser }}, {{ x }}; known: "
        "question, expected_outcome, reference_answer, candidate_answer, answer, input_messages, "
        "expected_messages, output_messages, input, criteria, expected_output, output"
    )
