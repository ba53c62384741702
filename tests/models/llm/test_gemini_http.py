"""Google's Gemini API, asked directly: what is sent, and what a reply means."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest

from rubric_ci.models.llm import gemini_http
from rubric_ci.models.llm.client import request
from rubric_ci.models.llm.failures import RequestError
from rubric_ci.values.config import OutputMode
from rubric_ci.values.llm_calls import ChatMessage, ModelCall, ModelReply
from rubric_ci.values.targets import Endpoint
from tests.bodies import Body, answering

MODEL = "gemini/gemini-3.8-flash"
SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
MESSAGES = (
    ChatMessage(role="system", content="Be brief."),
    ChatMessage(role="user", content="Hello"),
    ChatMessage(role="assistant", content="Yes?"),
)
SENT = {
    "systemInstruction": {"parts": [{"text": "Be brief."}]},
    "contents": [
        {"role": "user", "parts": [{"text": "Hello"}]},
        {"role": "model", "parts": [{"text": "Yes?"}]},
    ],
}


def call(
    options: Mapping[str, Any] | None = None, mode: OutputMode | None = None, **more: Any
) -> ModelCall:
    endpoint = Endpoint(model=MODEL, options=options or {})
    return ModelCall(endpoint=endpoint, messages=MESSAGES, key="k", output_mode=mode, **more)


JSON_TYPE = {"responseMimeType": "application/json"}


@pytest.mark.parametrize(
    ("asked", "config"),
    [
        pytest.param(call(), None, id="nothing"),
        pytest.param(
            call(output_schema=SCHEMA, max_tokens=10**9),
            {**JSON_TYPE, "responseJsonSchema": SCHEMA, "maxOutputTokens": 65536},
            id="a schema",
        ),
        pytest.param(call(output_schema=SCHEMA, mode="json_object"), JSON_TYPE, id="an object"),
        pytest.param(call(output_schema=SCHEMA, mode="prompt"), None, id="no schema"),
        pytest.param(
            call({"temperature": 0, "top_p": 1, "stop": "x", "seed": 3, "api_key": "k"}),
            {"temperature": 0, "topP": 1, "stopSequences": ["x"], "seed": 3},
            id="options",
        ),
    ],
)
def test_body(asked: ModelCall, config: Mapping[str, object] | None) -> None:
    expected = {**SENT, "generationConfig": config} if config else SENT
    assert gemini_http.body_of(asked) == expected


def ask(body: Mapping[str, object], status: int = 200) -> ModelReply:
    with answering(Body(content=json.dumps(body).encode(), status=status)) as server:
        return asyncio.run(request(call({"api_base": f"{server.url}/v1beta", "api_key": "k"})))


def test_a_reply() -> None:
    parts = [{"text": "hm", "thought": True}, {"text": "He"}, {"text": "llo"}]
    candidate = {"content": {"parts": parts, "role": "model"}, "finishReason": "STOP"}
    usage = {
        "promptTokenCount": 1000,
        "cachedContentTokenCount": 400,
        "candidatesTokenCount": 10,
        "thoughtsTokenCount": 90,
    }
    got = ask({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-3.8"})
    assert (got.text, got.finish, got.model) == ("Hello", "stop", "gemini-3.8")
    used = got.usage
    assert (used.calls, used.input_tokens, used.output_tokens) == (1, 1000, 100)
    assert used.cost_usd == pytest.approx(600 * 7.5e-07 + 400 * 7.5e-08 + 100 * 3.75e-06)
    assert used.unpriced_calls == 0


@pytest.mark.parametrize(
    ("reason", "finish"),
    [("MAX_TOKENS", "length"), ("SAFETY", "refusal"), ("STOP", "stop"), ("OTHER", "stop")],
)
def test_finish(reason: str, finish: str) -> None:
    assert ask({"candidates": [{"finishReason": reason}]}).finish == finish


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (
            {"error": {"code": 429, "message": "slow", "status": "RESOURCE_EXHAUSTED"}},
            429,
            "HTTP 429: slow",
        ),
        ({"candidates": [{"content": 7}]}, 200, "broken reply: not in the provider's format"),
        ({"candidates": []}, 200, "broken reply: no choices"),
    ],
)
def test_errors(body: Mapping[str, object], status: int, message: str) -> None:
    with pytest.raises(RequestError) as raised:
        ask(body, status)
    assert (str(raised.value), raised.value.retryable) == (message, True)


@pytest.mark.parametrize(
    ("model", "options", "expected"),
    [
        (MODEL, {"temperature": 1}, True),
        (MODEL, {"reasoning_effort": "low"}, False),
        ("gemini/gemma-4-27b-it", {}, False),
        ("openai/gpt-6-luna", {}, False),
    ],
)
def test_supports(model: str, options: Mapping[str, object], expected: bool) -> None:
    assert gemini_http.supports(Endpoint(model=model, options=options), {}) is expected
