"""The reply of a service: text, calls of tools, usage, streams, and replies that are none."""

import json
from typing import Any

import pytest

from rubric_ci.models.llm.failures import RequestError
from rubric_ci.models.llm.http_service import read_reply
from rubric_ci.values.agent_program import HttpRequest
from rubric_ci.values.json_value import JSON
from rubric_ci.values.usage import Usage

LOOK_UP = {"name": "look_up", "arguments": '{"order": 4711}'}
OPENAI = {
    "choices": [
        {
            "message": {
                "role": "assistant",
                "content": "Done",
                "tool_calls": [{"id": "1", "type": "function", "function": LOOK_UP}],
            }
        }
    ]
}
CHAT = {"answer": "choices.0.message.content", "tool_calls": "choices.0.message.tool_calls"}
CALL = {"tool": "look_up", "input": {"order": 4711}}
WITHOUT = {"choices": [{"message": {"role": "assistant", "content": "Done"}}]}


@pytest.mark.parametrize(
    ("reply", "places", "calls"),
    [
        ({"a": "x", "s": [{"name": "f", "arguments": {"n": 1}, "output": "o"}]}, "as", [
            {"tool": "f", "input": {"n": 1}, "output": "o"}
        ]),
        ({"a": "x", "s": [{"name": "f"}, {"name": "g", "output": {"k": 1}}]}, "as", [
            {"tool": "f"}, {"tool": "g", "output": '{"k": 1}'}
        ]),
        ({"a": "x", "s": [{"tool": "f", "input": "text"}]}, "as", [{"tool": "f", "input": "text"}]),
        ({"a": "x", "s": []}, "as", []),
        ({"a": "x", "s": None}, "as", []),
        (OPENAI, CHAT, [CALL]),
        (WITHOUT, CHAT, []),
    ],
)  # fmt: skip
def test_calls_of_tools(reply: JSON, places: Any, calls: list[Any]) -> None:
    chosen = {"answer": "a", "tool_calls": "s"} if places == "as" else places
    assert list(read_reply(json.dumps(reply).encode(), HttpRequest(**chosen)).calls) == calls


def test_usage() -> None:
    reply = {"a": "x", "u": {"in": 3, "out": 2, "cost": 0.25}}
    places = {"input_tokens": "u.in", "output_tokens": "u.out", "cost_usd": "/u/cost"}
    found = read_reply(json.dumps(reply).encode(), HttpRequest(answer="a", usage=places))
    assert found.usage == Usage(calls=1, input_tokens=3, output_tokens=2, cost_usd=0.25)
    only = {"input_tokens": "u.in"}
    found = read_reply(json.dumps(reply).encode(), HttpRequest(answer="a", usage=only))
    assert found.usage == Usage(calls=1, input_tokens=3, unpriced_calls=1)


SSE = (
    ": comment\n\n"
    'event: delta\ndata: {"d": "Hel"}\n\n'
    'data: {"d": "lo"}\n\n'
    'data: {"steps": [{"name": "f"}]}\n\n'
    'data: {"d": null, "u": {"in": 1}}\n\n'
    'data: {"u": {"in": 7}}\n\n'
    "data: [DONE]\n\n"
)
LINES = '{"d": "Hel"}\n{"d": "lo"}\n\n{"steps": [{"name": "f"}], "u": {"in": 7}}\n'
TEXTS = "data: Hel\n\ndata: lo\ndata: there\n\n"


@pytest.mark.parametrize("stream", [SSE, LINES, SSE.replace("\n", "\r\n")])
def test_a_stream_is_read_to_its_end(stream: str) -> None:
    http = HttpRequest(answer="d", tool_calls="steps", usage={"input_tokens": "u.in"}, stream=True)
    found = read_reply(stream.encode(), http)
    assert (found.text, found.calls, found.usage.input_tokens) == ("Hello", ({"tool": "f"},), 7)


@pytest.mark.parametrize(
    ("stream", "text"),
    [
        pytest.param(TEXTS, "Hello\nthere", id="words"),
        pytest.param("data: 1.50\n\ndata: null\n\ndata: {}\n\n", "1.50null{}", id="like JSON"),
        pytest.param('data: "a "\n\ndata: b\n\n', "a b", id="strings of JSON"),
        pytest.param('"1"\n2.0\n[ ]\n', "12.0[ ]", id="lines"),
    ],
)
def test_a_stream_of_texts(stream: str, text: str) -> None:
    assert read_reply(stream.encode(), HttpRequest(stream=True)).text == text


ONE = {"a": "x", "s": 1, "t": [{}], "u": "3", "v": -1}
CALLS = HttpRequest(answer="a", tool_calls="s")
NO_NAME = "`t/0` of the reply is no call of a tool: it has no `name`; a call is {name, arguments}"
LINE = HttpRequest(answer="a", stream=True)
DEEP = "[" * 120 + "]" * 120


def of_cost(place: str) -> HttpRequest:
    return HttpRequest(answer="a", usage={"cost_usd": place})


@pytest.mark.parametrize(
    ("data", "http", "reason"),
    [
        ({"a": 1}, HttpRequest(answer="b"), "the reply has no `b`, only a; check `answer` of the"),
        ([1], HttpRequest(answer="b"), "the reply, which is no object, has no `b`; check `answer`"),
        ({"a": 1}, CALLS, "the reply has no `s`, only a; check `tool_calls` of the target"),
        (ONE, CALLS, "`s` of the reply is no call of a tool: it is no list; a call is {name, arg"),
        (ONE, HttpRequest(answer="a", tool_calls="t"), NO_NAME),
        ({"a": 1, "s": ["f"]}, CALLS, "`s/0` of the reply is no call of a tool: it is no object"),
        (ONE, of_cost("u"), '`usage.cost_usd` of the reply must be a number, not "3"'),
        (ONE, of_cost("v"), "`usage.cost_usd` of the reply must be a number, not -1"),
        ({"a": "x"}, of_cost("u"), "the reply has no `u`, only a; check `usage` of the target"),
        (b'{"a": 1}\n{"a"', LINE, "the reply is not JSON"),
        (b'{"b": 1}\n', LINE, "the stream has no `a`, only b; check `answer` of the target"),
        (b"event: error\ndata: overloaded\n\n", LINE, "the stream has an error: overloaded"),
        (b"[" * 200 + b"]" * 200, CALLS, "the reply has JSON of more than 100 levels"),
        (f'data: {{"a": {DEEP}}}\n\n'.encode(), LINE, "the reply has JSON of more than 100 levels"),
        (
            {"a": 1, "s": [{"name": "f", "arguments": DEEP}]},
            CALLS,
            "the reply has JSON of more than 100 levels",
        ),
        (b"\xff", LINE, "the reply is not UTF-8"),
    ],
)
def test_a_reply_without_an_answer(data: Any, http: HttpRequest, reason: str) -> None:
    written = data if isinstance(data, bytes) else json.dumps(data).encode()
    with pytest.raises(RequestError) as caught:
        read_reply(written, http)
    assert str(caught.value).startswith(reason)
