"""Free-form scores, and templates with unknown variables."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from rubric_ci.errors import CannotJudge
from rubric_ci.evaluators.llm_judge import (
    FreeformMark,
    freeform_call,
    freeform_messages,
    llm_judge,
    read_freeform_mark,
    unknown_variables,
)
from rubric_ci.models.judge.prompt import MAX_TOKENS, PROMPT_VERSION, about_fences
from rubric_ci.models.judge.reply import InvalidReply
from rubric_ci.values.config import JudgeConfig
from rubric_ci.values.context import RunContext
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.evals import EvalCase, LlmJudgeSpec
from rubric_ci.values.llm_calls import ModelCall, ModelReply, call_key
from rubric_ci.values.messages import Message, TextPart
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


GREETING = EvalCase(
    id="a",
    file="a.yaml",
    span=Span(1, 1, 1, 2),
    expected_outcome="Warm",
    input_messages=(Message(role="user", parts=(TextPart("Greet"),)),),
    expected_messages=(Message(role="assistant", parts=(TextPart("Dear"),)),),
)
ANSWER = Answer(text="Hi {{ question }}", messages=({"role": "assistant", "content": "Hi"},))
JUDGE = JudgeConfig(endpoint=Endpoint(model="openai/m"))


def body(template: str, answer: Answer = ANSWER) -> str:
    user = freeform_messages(GREETING, answer, template, fence="F")[1].content
    return user.partition("\n\nReply with one JSON object")[0]


FILLED = {
    "{{ question }}": "<question_F>\nGreet\n</question_F>",
    "{{question}}": "<question_F>\nGreet\n</question_F>",
    "{{ expected_outcome }}": "<expected_outcome_F>\nWarm\n</expected_outcome_F>",
    "{{ reference_answer }}": "<reference_answer_F>\nDear\n</reference_answer_F>",
    # What the answer says is not a template.
    "{{ candidate_answer }}": "<answer_F>\nHi {{ question }}\n</answer_F>",
    "{{ answer }}": "<answer_F>\nHi {{ question }}\n</answer_F>",
    "{{ output_messages }}": (
        '<data_F>\n[\n  {\n    "role": "assistant",\n    "content": "Hi"\n  }\n]\n</data_F>'
    ),
    "{{ input_messages }}": (
        '<data_F>\n[\n  {\n    "role": "user",\n    "content": "Greet"\n  }\n]\n</data_F>'
    ),
    "{{ expected_messages }}": (
        '<data_F>\n[\n  {\n    "role": "assistant",\n    "content": "Dear"\n  }\n]\n</data_F>'
    ),
    "{{ unknown }} and {{question.x}}": "{{ unknown }} and {{question.x}}",
    "No variables, {one} brace": "No variables, {one} brace",
}


@pytest.mark.parametrize(("template", "text"), FILLED.items(), ids=FILLED)
def test_template(template: str, text: str) -> None:
    assert body(template) == text


def test_without_a_template_the_built_in_question_ends_with_the_answer() -> None:
    text = body("")
    assert text.startswith("What was asked:\n<question_F>\nGreet")
    assert text.endswith("<answer_F>\nHi {{ question }}\n</answer_F>")


def test_unknown_variables_are_named_once() -> None:
    assert unknown_variables("{{ question }} {{ questoin }} {{ x.y }} {{questoin}}") == (
        "questoin",
        "x.y",
    )


def test_key() -> None:
    def key(template: str = "", fence: str = "8f3a") -> str:
        return freeform_call(GREETING, ANSWER, template, JUDGE, fence=fence).key

    assert key() == key(fence="0a1b")
    assert len({key(), key("other")}) == 2


OPINION_SCHEMA = {
    "type": "object",
    "properties": {
        "reasoning": {"type": "string"},
        "hits": {"type": "array", "items": {"type": "string"}},
        "misses": {"type": "array", "items": {"type": "string"}},
        "score": {"type": "number"},
    },
    "required": ["reasoning", "hits", "misses", "score"],
    "additionalProperties": False,
}


def test_the_request() -> None:
    options = {"max_tokens": 99}
    judge = JudgeConfig(endpoint=Endpoint(model="openai/m", options=options), output="json_object")
    call = freeform_call(
        GREETING, ANSWER, "{{ x }}", judge, fence="8f3a", about="a", more={"x": "more"}
    )
    unfenced = freeform_messages(GREETING, ANSWER, "{{ x }}", fence="", more={"x": "more"})
    turn = f"opinion {PROMPT_VERSION}, vote 1"
    assert call == ModelCall(
        endpoint=judge.endpoint,
        messages=freeform_messages(GREETING, ANSWER, "{{ x }}", fence="8f3a", more={"x": "more"}),
        key=call_key(judge.endpoint, unfenced, schema=OPINION_SCHEMA, turn=turn),
        about="a",
        output_schema=OPINION_SCHEMA,
        output_mode="json_object",
        max_tokens=99,
    )


def test_the_key_is_that_of_the_first_vote_and_of_this_schema() -> None:
    call = freeform_call(GREETING, ANSWER, "", JUDGE, fence="8f3a")
    unfenced = freeform_messages(GREETING, ANSWER, "", fence="")
    keys = [
        call_key(JUDGE.endpoint, unfenced, schema=schema, turn=f"opinion {PROMPT_VERSION}, vote 1")
        for schema in (OPINION_SCHEMA, None, {})
    ]
    assert [call.key == key for key in keys] == [True, False, False]
    assert call.max_tokens == MAX_TOKENS


def test_roles_and_more_variables() -> None:
    system, user = freeform_messages(GREETING, ANSWER, "{{ x }}", fence="F", more={"x": "more"})
    assert (system.role, user.role) == ("system", "user")
    assert system.content.startswith("You are a careful and impartial judge.")
    assert system.content.endswith(f"\n\n{about_fences('F')}")
    assert user.content.startswith("<data_F>\nmore\n</data_F>\n\nReply with one JSON object")


def test_more_variables_are_known() -> None:
    assert unknown_variables("{{ x }} {{ y }}", {"x": "more"}) == ("y",)


def test_messages_keep_the_letters_of_other_alphabets() -> None:
    answer = replace(ANSWER, messages=({"role": "assistant", "content": "Grüße"},))
    assert "Grüße" in body("{{ output_messages }}", answer)


def test_an_opinion() -> None:
    text = json.dumps({"reasoning": "Warm.", "hits": ["greets"], "misses": [], "score": 0.75})
    assert read_freeform_mark(f"Sure:\n{text}") == FreeformMark(
        score=0.75, reasoning="Warm.", hits=("greets",), misses=()
    )


@pytest.mark.parametrize("score", [0, 1, 0.5])
def test_a_bare_score_is_enough(score: float) -> None:
    assert read_freeform_mark(json.dumps({"score": score})) == FreeformMark(score=score)


REFUSED = {
    "{}": ['"score": Field required'],
    '{"score": "0.8"}': ['"score": Input should be a valid number'],
    '{"score": true}': ['"score": Input should be a valid number'],
    '{"score": 1.1}': ['"score": Input should be less than or equal to 1'],
    '{"score": -0.1}': ['"score": Input should be greater than or equal to 0'],
    '{"score": 8}': ['"score": Input should be less than or equal to 1'],
    '{"score": NaN}': ["NaN is not JSON"],
    '{"score": null}': ['"score": Input should be a valid number'],
    '{"score": 1, "score": 0}': ['the key "score" is twice in one object'],
    '{"score": 1, "verdict": "pass"}': ['"verdict": Extra inputs are not permitted'],
    '{"score": 1, "hits": [7]}': ['"hits.0": Input should be a valid string'],
    '{"score": 1, "hits": "all"}': ['"hits": Input should be a valid tuple'],
    '{"score": 1, "reasoning": "\\ud83d"}': ['"reasoning": Input should be a valid string'],
    '{"more": 1, "misses": 2, "hits": ["", null], "reasoning": 3}': [
        '"score": Field required',
        '"reasoning": Input should be a valid string',
        '"hits.1": Input should be a valid string',
        '"misses": Input should be a valid tuple',
        '"more": Extra inputs are not permitted',
    ],
    "0.8": ["the reply holds no JSON object"],
}


@pytest.mark.parametrize(("text", "problems"), REFUSED.items(), ids=REFUSED)
def test_no_opinion(text: str, problems: list[str]) -> None:
    assert read_freeform_mark(text) == InvalidReply(tuple(problems))
