"""Anthropic's Messages API, asked directly: what is sent, and what a reply means."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest

from rubric_ci.models.llm import anthropic_http
from rubric_ci.models.llm.client import request
from rubric_ci.models.llm.failures import RequestError
from rubric_ci.values.config import OutputMode
from rubric_ci.values.llm_calls import ChatMessage, ModelCall
from rubric_ci.values.targets import Endpoint
from tests.bodies import Body, answering

MODEL = "anthropic/claude-sonnet-5-5"
SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
SCHEMA_FORMAT = {"type": "json_schema", "schema": SCHEMA}
MESSAGES = (
    ChatMessage(role="system", content="Be brief."),
    ChatMessage(role="user", content="Hello"),
    ChatMessage(role="assistant", content="Yes?"),
    ChatMessage(role="user", content="Again"),
)
TURNS = [
    {"role": "user", "content": "Hello"},
    {"role": "assistant", "content": "Yes?"},
    {"role": "user", "content": "Again"},
]


def call(
    options: Mapping[str, Any] | None = None, mode: OutputMode | None = None, **more: Any
) -> ModelCall:
    endpoint = Endpoint(model=more.pop("model", MODEL), options=options or {})
    return ModelCall(endpoint=endpoint, messages=MESSAGES, key="k", output_mode=mode, **more)


@pytest.mark.parametrize(
    ("asked", "differs"),
    [
        pytest.param(call(), {"max_tokens": 128000}, id="the limit of the model"),
        pytest.param(
            call(model="anthropic/new"), {"model": "new", "max_tokens": 4096}, id="unknown"
        ),
        pytest.param(
            call({"reasoning_effort": "low"}, output_schema=SCHEMA, max_tokens=50),
            {"max_tokens": 50, "output_config": {"effort": "low", "format": SCHEMA_FORMAT}},
            id="a schema",
        ),
        pytest.param(call(output_schema=SCHEMA, mode="prompt"), {"max_tokens": 128000}, id="none"),
        pytest.param(
            call({"temperature": 0, "top_k": 2, "stop": "x", "max_tokens": 9, "api_key": "k"}),
            {"temperature": 0, "top_k": 2, "stop_sequences": ["x"], "max_tokens": 9},
            id="options",
        ),
    ],
)
def test_body(asked: ModelCall, differs: Mapping[str, object]) -> None:
    body = {"model": "claude-sonnet-5-5", "system": "Be brief.", "messages": TURNS}
    assert anthropic_http.body_of(asked) == {**body, **differs}


def reply(content: list[object], **more: object) -> bytes:
    usage = {
        "input_tokens": 100,
        "cache_read_input_tokens": 1000,
        "cache_creation_input_tokens": 0,
        "output_tokens": 10,
    }
    facts = {"type": "message", "model": "claude-sonnet-5-5", "stop_reason": "end_turn"}
    return json.dumps({**facts, "content": content, "usage": usage, **more}).encode()


def test_a_reply() -> None:
    content: list[object] = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "He"},
        {"type": "text", "text": "llo"},
    ]
    with answering(Body(content=reply(content))) as server:
        got = asyncio.run(request(call({"api_base": server.url, "api_key": "k"})))
    assert (got.text, got.finish, got.model) == ("Hello", "stop", "claude-sonnet-5-5")
    used = got.usage
    assert (used.calls, used.input_tokens, used.output_tokens) == (1, 1100, 10)
    assert used.cost_usd == pytest.approx(100 * 2e-06 + 1000 * 1e-07 + 10 * 1e-05)
    assert used.unpriced_calls == 0


@pytest.mark.parametrize("ending", ["", "/", "/v1", "/v1/", "/v1/messages"])
def test_the_base_may_name_the_version(ending: str) -> None:
    endpoint = call({"api_base": f"http://host{ending}", "api_key": "k"}).endpoint
    assert anthropic_http.server_of(endpoint) == ("http://host", "k")


@pytest.mark.parametrize(
    ("body", "message", "retryable"),
    [
        (
            Body(
                content=b'{"type": "error", "error": {"type": "overloaded_error", "message": "x"}}',
                status=529,
            ),
            "HTTP 529: x",
            True,
        ),
        (
            Body(content=b'{"error": {"type": "overloaded_error", "message": "later"}}'),
            "the reply is an error: later",
            True,
        ),
        (
            Body(content=b'{"content": [{"type": "text"}]}'),
            "broken reply: not in the provider's format",
            True,
        ),
    ],
)
def test_errors(body: Body, message: str, retryable: bool) -> None:
    with answering(body) as server, pytest.raises(RequestError) as raised:
        asyncio.run(request(call({"api_base": server.url, "api_key": "k"})))
    assert (str(raised.value), raised.value.retryable) == (message, retryable)


@pytest.mark.parametrize(
    ("model", "options", "expected"),
    [
        (MODEL, {"api_key": "k", "temperature": 1}, True),
        (MODEL, {}, True),
        (MODEL, {"api_key": "sk-ant-oat01-x"}, False),
        (MODEL, {"api_key": "k", "thinking": {"type": "enabled"}}, False),
        ("openai/gpt-6-luna", {"api_key": "k"}, False),
    ],
)
def test_supports(
    model: str, options: Mapping[str, object], expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_AUTH_TOKEN", raising=False)
    assert anthropic_http.supports(Endpoint(model=model, options=options), {}) is expected


def test_a_token_in_place_of_a_key_needs_litellm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "t")
    assert not anthropic_http.supports(Endpoint(model=MODEL), {})
