"""Messages of model providers: one conversation in the form of each, and values that are none."""

import json
from typing import Any

import pytest
import yaml

from rubric_ci.parts.bring import chat_messages as chat
from rubric_ci.parts.bring.chat_messages import Call, ChatMessage, NotAChat
from rubric_ci.parts.bring.spans_and_otlp import talk

SPOKEN = (
    ChatMessage(role="user", text="Where?"),
    ChatMessage(role="assistant", calls=(Call("c1", "find", {"order": 7}),)),
    ChatMessage(role="tool", text="Berlin", result_of="c1"),
    ChatMessage(role="assistant", text="In Berlin."),
)
OPENAI: list[dict[str, Any]] = yaml.safe_load("""
- {role: user, content: 'Where?'}
- {role: assistant, content: null, tool_calls: [{id: c1, function: {name: find, arguments:
   '{"order": 7}'}}]}
- {role: tool, tool_call_id: c1, content: Berlin}
- {role: assistant, content: In Berlin.}
""")
RESPONSES: list[dict[str, Any]] = yaml.safe_load("""
- {type: message, role: user, content: [{type: input_text, text: 'Where?'}]}
- {type: reasoning, id: r1, summary: []}
- {type: function_call, call_id: c1, name: find, arguments: '{"order": 7}'}
- {type: function_call_output, call_id: c1, output: Berlin}
- {type: message, role: assistant, content: [{type: output_text, text: In Berlin.}]}
""")
ANTHROPIC: list[dict[str, Any]] = yaml.safe_load("""
- {role: user, content: 'Where?'}
- {role: assistant, content: [{type: thinking, thinking: Hm.}, {type: tool_use, id: c1, name: find,
   input: {order: 7}}]}
- {role: user, content: [{type: tool_result, tool_use_id: c1, content: Berlin}]}
- {role: assistant, content: [{type: text, text: In Berlin.}]}
""")
GEMINI: list[dict[str, Any]] = yaml.safe_load("""
- {role: user, parts: [{text: 'Where?'}]}
- {role: model, parts: [{functionCall: {name: find, args: {order: 7}}}]}
- {role: model, parts: [{text: Hm., thought: true}, {text: In Berlin.}]}
""")


@pytest.mark.parametrize(
    ("value", "spoken"),
    [
        (OPENAI, SPOKEN),
        ({"messages": OPENAI, "model": "m"}, SPOKEN),
        (json.dumps({"messages": OPENAI}), SPOKEN),
        ([OPENAI], SPOKEN),
        (RESPONSES, SPOKEN),
        (ANTHROPIC, SPOKEN),
        (
            GEMINI,
            (
                SPOKEN[0],
                ChatMessage(role="assistant", calls=(Call("", "find", {"order": 7}),)),
                SPOKEN[3],
            ),
        ),
        (
            {"system": "Be kind.", "messages": OPENAI[:1]},
            (ChatMessage(role="system", text="Be kind."), SPOKEN[0]),
        ),
        ([{"type": "human", "data": {"content": "Where?"}}], SPOKEN[:1]),
        ([{"type": "human", "content": "Where?"}], SPOKEN[:1]),
        ("Where?", SPOKEN[:1]),
        ({"question": "Where?"}, SPOKEN[:1]),
        ({"user_query": "Where?"}, SPOKEN[:1]),
        ({"input": {"query": "Where?"}}, SPOKEN[:1]),
        ({"args": ["Where?"], "kwargs": {}}, SPOKEN[:1]),
        ({"args": [], "kwargs": {"question": "Where?"}}, SPOKEN[:1]),
        ({"args": [OPENAI, 7], "kwargs": {}}, SPOKEN),
        ([{"text": "Where?"}], SPOKEN[:1]),
        ({"a": 1, "b": 2}, (ChatMessage(role="user", text='{"a": 1, "b": 2}'),)),
        (None, ()),
        ("", ()),
        ({}, ()),
    ],
    ids=str,
)
def test_a_question_has_every_message(value: Any, spoken: tuple[ChatMessage, ...]) -> None:
    assert chat.question(value).messages == spoken


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("In Berlin.", "In Berlin."),
        ('{"city": "Berlin"}', '{"city": "Berlin"}'),
        ({"city": "Berlin", "n": 1}, '{"city": "Berlin", "n": 1}'),
        ({"output": "In Berlin."}, "In Berlin."),
        ({"answer": "In Berlin.", "sources": ["a"]}, "In Berlin."),
        ({"choices": [{"message": OPENAI[-1]}, {"message": OPENAI[0]}]}, "In Berlin."),
        ([{"index": 0, "message": OPENAI[-1]}], "In Berlin."),
        ({"output": RESPONSES[-1:], "id": "r"}, "In Berlin."),
        ({"role": "assistant", "content": ANTHROPIC[-1]["content"], "id": "m"}, "In Berlin."),
        ({"candidates": [{"content": GEMINI[-1], "finishReason": "STOP"}]}, "In Berlin."),
        ({"generations": [[{"text": "In Berlin.", "message": OPENAI[-1]}]]}, "In Berlin."),
        (7, "7"),
        (None, ""),
    ],
    ids=str,
)
def test_an_answer_is_the_text_of_the_last_message(value: Any, text: str) -> None:
    assert chat.last_text(chat.answer(value).messages) == text


def test_what_is_no_message_is_returned_as_the_rest() -> None:
    asked, said = {"question": "Where?", "user": "ada"}, {"answer": "There.", "sources": ["a"]}
    rest = {"input": {"user": "ada"}, "output": {"sources": ["a"]}}
    assert talk(asked, said)["rest"] == rest


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        ({"type": "image_url", "image_url": {"url": "data:,"}}, "image_url"),
        ({"type": "file", "file": {"file_id": "f"}}, "file"),
        ({"inlineData": {"mimeType": "image/png", "data": ""}}, "inlineData"),
    ],
    ids=str,
)
def test_a_part_that_cannot_be_kept_is_refused(part: dict[str, Any], kind: str) -> None:
    with pytest.raises(NotAChat) as refused:
        chat.question([{"role": "user", "content": [part]}])
    assert str(refused.value) == f"a message has a part of type `{kind}`, which is not imported"


def test_a_chat_is_split_after_the_last_message_of_the_user() -> None:
    before = (ChatMessage(role="user", text="Hi"), ChatMessage(role="assistant", text="Hello"))
    asked, said = chat.split((*before, *SPOKEN))
    assert (asked, said) == ((*before, SPOKEN[0]), SPOKEN[1:])
    (step,) = chat.steps(said)
    assert (step.tool, step.arguments, step.result) == ("find", {"order": 7}, "Berlin")
