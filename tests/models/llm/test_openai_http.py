"""OpenAI's chat format, asked directly: the same replies as through litellm."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from rubric_ci.models.llm.client import request
from rubric_ci.models.llm.direct import provider_of
from rubric_ci.models.llm.failures import RequestError
from rubric_ci.models.llm.openai_http import supports
from rubric_ci.parts.litellm.litellm_client import ask_litellm
from rubric_ci.system.model_list import model_info
from rubric_ci.values.llm_calls import ModelCall, ModelReply
from rubric_ci.values.targets import Endpoint
from tests.aimock import Aimock, says
from tests.bodies import Body, answering
from tests.cases import build_call

SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


async def ask_directly(call: ModelCall) -> ModelReply:
    provider = provider_of(call.endpoint)
    assert provider is not None
    return await provider.ask(call)


def call(url: str, **more: Any) -> ModelCall:
    options = {"api_base": f"{url}/v1", "api_key": "k", "temperature": 1}
    endpoint = Endpoint(model="openai/gpt-6-luna", options=options, timeout_seconds=60)
    return build_call(endpoint=endpoint, **more)


def reply(
    message: Mapping[str, object], finish: str = "stop", **usage: object
) -> Mapping[str, object]:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    facts = {"id": "x", "object": "chat.completion", "created": 1, "model": "gpt-6-luna"}
    return {**facts, "choices": [choice], **({"usage": usage} if usage else {})}


COUNTED: dict[str, Any] = {"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050}
REPLIES = {
    "text": reply({"content": "Hello."}, **COUNTED),
    "null": reply({"content": None}, **COUNTED),
    "cut": reply({"content": "Hel"}, "length", **COUNTED),
    "filtered": reply({"content": ""}, "content_filter", **COUNTED),
    "refused": reply({"content": None, "refusal": "I will not."}, **COUNTED),
    "uncounted": reply({"content": "Hello."}),
    "cached": reply({"content": "Hello."}, **COUNTED, prompt_tokens_details={"cached_tokens": 600}),
}


@pytest.mark.parametrize("body", REPLIES.values(), ids=REPLIES)
def test_it_reads_what_litellm_reads(body: Mapping[str, object]) -> None:
    def ask(directly: bool) -> ModelReply:
        with answering(Body(content=json.dumps(body).encode())) as server:
            way = ask_directly if directly else ask_litellm
            return asyncio.run(way(call(server.url)))

    direct, through = ask(directly=True), ask(directly=False)
    assert (direct.text, direct.finish) == (through.text, through.finish)
    assert direct.usage.cost_usd == pytest.approx(through.usage.cost_usd)
    assert direct.usage.unpriced_calls == through.usage.unpriced_calls
    assert direct.usage.input_tokens == through.usage.input_tokens


@pytest.mark.parametrize(
    ("model", "options"),
    [
        pytest.param("openai/gpt-3.5-turbo", {"temperature": 0}, id="without reasoning"),
        pytest.param("openai/gpt-6-luna", {"reasoning_effort": "low"}, id="with reasoning"),
        pytest.param(
            "openai/gpt-6-luna", {"reasoning_effort": "none", "temperature": 0}, id="turned off"
        ),
    ],
)
def test_sends_what_litellm_sends(aimock: Aimock, model: str, options: dict[str, object]) -> None:
    aimock.script(says("{}"))
    connection = aimock.endpoint("openai").options
    endpoint = Endpoint(model=model, options={**connection, **options}, timeout_seconds=60)
    asked = build_call(endpoint=endpoint, output_schema=SCHEMA, max_tokens=100)
    asyncio.run(ask_directly(asked))
    asyncio.run(ask_litellm(asked))
    direct, through = aimock.requests()
    assert direct == through


SPOKEN: dict[str, tuple[str, Mapping[str, object], bool]] = {
    "known": ("openai/gpt-6-luna", {}, True),
    "with options": ("openai/gpt-6-luna", {"temperature": 0, "seed": 1}, True),
    "unknown, on a host of one's own": ("openai/mine", {"api_base": "http://host/v1"}, True),
    "unknown, at OpenAI": ("openai/mine", {}, True),
    "an option that only litellm knows": ("openai/gpt-6-luna", {"drop_params": True}, False),
    "a reasoning model": ("openai/gpt-6-luna", {"reasoning_effort": "low"}, True),
    "another interface": ("openai/responses/gpt-6-luna", {}, False),
    "without chat": ("openai/gpt-5.4-pro", {}, False),
    "another provider": ("anthropic/claude-sonnet-5-5", {}, False),
    "no key": ("openai/gpt-6-luna", {"api_key": ""}, True),
}


@pytest.mark.parametrize(("model", "options", "expected"), SPOKEN.values(), ids=SPOKEN)
def test_who_is_asked_directly(
    model: str, options: Mapping[str, object], expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_ORGANIZATION", "OPENAI_PROJECT_ID"):
        monkeypatch.delenv(name, raising=False)
    endpoint = Endpoint(model=model, options={"api_key": "k", **options})
    assert supports(endpoint, model_info(model)) is expected


def test_the_environment_may_hold_the_key_and_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    with answering(Body(content=json.dumps(REPLIES["text"]).encode())) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "from-outside")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        assert asyncio.run(request(build_call("openai/gpt-6-luna"))).text == "Hello."


TROUBLES: dict[str, tuple[Body, str, bool]] = {
    "an error of OpenAI's form": (
        Body(content=b'{"error": {"message": "no such\\n model"}}', status=404),
        "HTTP 404: no such model",
        False,
    ),
    "an error of a proxy": (Body(content=b"<h1>busy</h1>", status=503), "HTTP 503: <h1>", True),
    "no choices": (Body(content=b'{"choices": []}'), "broken reply: no choices", True),
    "no message": (Body(content=b'{"choices": [{}]}'), "broken reply: 'message'", True),
    "choices of a kind": (Body(content=b'{"choices": 7}'), "broken reply: ", True),
    "content in parts": (
        Body(content=b'{"choices": [{"message": {"content": [{"type": "text"}]}}]}'),
        "broken reply: ",
        True,
    ),
    "nested beyond reason": (Body(content=b"[" * 200_000), "broken reply: ", True),
    "not UTF-8": (Body(content=b"\xff\xfe\x00"), "broken reply: ", True),
}


@pytest.mark.parametrize(("body", "said", "retryable"), TROUBLES.values(), ids=TROUBLES)
def test_troubles(body: Body, said: str, retryable: bool) -> None:
    with answering(body) as server, pytest.raises(RequestError) as raised:
        asyncio.run(ask_directly(call(server.url)))
    assert str(raised.value).startswith(said)
    assert raised.value.retryable is retryable


def test_a_host_that_is_no_url() -> None:
    with pytest.raises(RequestError, match="is not a URL"):
        asyncio.run(ask_directly(call("nonsense")))


def test_a_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with answering(Body(content=json.dumps(REPLIES["text"]).encode())) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.setenv("no_proxy", "")
        assert asyncio.run(ask_directly(call("http://models.invalid"))).text == "Hello."


def test_a_login_of_the_netrc_file_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "logins").write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "logins"))
    with answering(Body(content=json.dumps(REPLIES["text"]).encode())) as server:
        with pytest.raises(RequestError, match="the connection failed"):  # it has a key as well
            asyncio.run(ask_directly(call(server.url)))
        assert server.requests == []
