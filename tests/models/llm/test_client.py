"""The adapter to litellm: invalid replies, output modes, limits and prices."""

import asyncio
import json
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from email.utils import formatdate
from socketserver import BaseRequestHandler
from time import time
from typing import Any

import pytest

from rubric_ci.models.llm.client import complete, request
from rubric_ci.models.llm.failures import RequestError
from rubric_ci.models.llm.model_info import prices_of
from rubric_ci.values.config import OutputMode
from rubric_ci.values.llm_calls import ModelCall, ModelReply
from rubric_ci.values.targets import Endpoint
from rubric_ci.values.usage import Usage
from tests.aimock import Aimock, says
from tests.bodies import Body, answering
from tests.cases import build_call
from tests.http_server import serving


@contextmanager
def hanging_up() -> Iterator[str]:
    """Read each request and close the connection without a word."""

    class Handler(BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(65536)

    with serving(Handler) as server:
        yield server.url


def call(endpoint: Endpoint, **more: Any) -> ModelCall:
    return build_call(endpoint=endpoint, **more)


def ask(wire: str, *bodies: Body) -> ModelReply | RequestError:
    with answering(*bodies) as server:
        try:
            return asyncio.run(request(call(Aimock(server.url).endpoint(wire))))
        except RequestError as trouble:
            return trouble


def openai(**message: object) -> dict[str, object]:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}
    return {"id": "x", "object": "chat.completion", "created": 1, "choices": [choice]}


def anthropic(**more: object) -> dict[str, object]:
    return {"id": "x", "type": "message", "role": "assistant", "model": "m", "content": [], **more}


def gemini(**more: object) -> dict[str, object]:
    return {"usageMetadata": {"promptTokenCount": 3, "totalTokenCount": 3}, **more}


FORMAT = "broken reply: not in the provider's format"
NO_REPLIES: dict[str, tuple[str, bytes, bool, str]] = {
    "openai, list": ("openai", b"[]", True, "broken reply: not a JSON object"),
    "openai, HTML": ("openai", b"<html>busy</html>", True, "Expecting value"),
    "openai, empty": ("openai", b"", True, "Expecting value"),
    "openai, no choices": (
        "openai",
        json.dumps({**openai(), "choices": []}).encode(),
        True,
        "broken reply: no choices",
    ),
    "anthropic, empty object": ("anthropic", b"{}", True, FORMAT),
    "anthropic, HTML": ("anthropic", b"<html>busy</html>", True, "Expecting value"),
    "gemini, empty object": ("gemini", b"{}", True, FORMAT),
    "gemini, HTML": ("gemini", b"<html>busy</html>", True, "Expecting value"),
    "gemini, no candidates": (
        "gemini",
        json.dumps(gemini(candidates=[])).encode(),
        True,
        "broken reply: no choices",
    ),
}


@pytest.mark.parametrize(
    ("wire", "content", "retryable", "message"), NO_REPLIES.values(), ids=NO_REPLIES
)
def test_no_reply(wire: str, content: bytes, retryable: bool, message: str) -> None:
    trouble = ask(wire, Body(content=content))
    assert isinstance(trouble, RequestError)
    assert trouble.retryable is retryable
    assert message in str(trouble)
    assert "Traceback" not in str(trouble)


UNMARKED: dict[str, tuple[str, Mapping[str, object], str, str]] = {
    "openai, null": ("openai", openai(content=None), "stop", ""),
    "refusal": ("openai", openai(content=None, refusal="I will not."), "refusal", "I will not."),
    "anthropic, nothing": (
        "anthropic",
        anthropic(stop_reason="end_turn", usage={"input_tokens": 3, "output_tokens": 1}),
        "stop",
        "",
    ),
    "anthropic, refusal": (
        "anthropic",
        anthropic(stop_reason="refusal", usage={"input_tokens": 3, "output_tokens": 1}),
        "refusal",
        "",
    ),
    "gemini, blocked": ("gemini", gemini(promptFeedback={"blockReason": "SAFETY"}), "refusal", ""),
    "gemini, cut": ("gemini", gemini(candidates=[{"finishReason": "MAX_TOKENS"}]), "length", ""),
}


@pytest.mark.parametrize(("wire", "body", "finish", "text"), UNMARKED.values(), ids=UNMARKED)
def test_a_reply_without_marks(
    wire: str, body: Mapping[str, object], finish: str, text: str
) -> None:
    reply = ask(wire, Body(content=json.dumps(body).encode()))
    assert isinstance(reply, ModelReply)
    assert (reply.finish, reply.text) == (finish, text)


def test_a_server_that_counts_no_tokens_has_no_known_cost() -> None:
    reply = ask("openai", Body(content=json.dumps(openai(content="hm")).encode()))
    assert isinstance(reply, ModelReply)
    assert reply.usage == Usage(calls=1, unpriced_calls=1)


@pytest.mark.parametrize("wire", ["openai", "anthropic", "gemini"])
def test_retry_after(wire: str) -> None:
    error = b'{"error": {"message": "busy", "type": "t"}}'

    def asked_to_wait(value: str) -> float | None:
        trouble = ask(wire, Body(content=error, status=503, headers={"Retry-After": value}))
        assert isinstance(trouble, RequestError)
        return trouble.retry_after

    assert asked_to_wait("7") == 7
    assert asked_to_wait("soon") is None
    assert asked_to_wait(formatdate(time() + 60, usegmt=True)) == pytest.approx(60, abs=20)
    assert asked_to_wait(formatdate(0, usegmt=True)) == 0


SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
MODES: dict[str, tuple[str, OutputMode | None, object]] = {
    "known to have it": ("openai/gpt-6-luna", None, "json_schema"),
    "known not to": ("openai/gpt-3.5-turbo", None, "json_object"),
    "known to have it, wrongly": ("openai/deepseek-chat", None, "json_object"),
    "unknown": ("openai/my-own", None, "json_schema"),
    "unknown, configured": ("openai/my-own", "json_schema", "json_schema"),
    "known, configured": ("openai/gpt-6-luna", "prompt", None),
    "object, configured": ("openai/gpt-6-luna", "json_object", "json_object"),
}


@pytest.mark.parametrize(("model", "configured", "sent"), MODES.values(), ids=MODES)
def test_output_mode(
    aimock: Aimock, model: str, configured: OutputMode | None, sent: object
) -> None:
    aimock.script(says("{}"))
    options = aimock.endpoint("openai").options
    endpoint = Endpoint(model=model, options=options)
    asyncio.run(complete(call(endpoint, output_schema=SCHEMA, output_mode=configured)))
    (body,) = aimock.requests()
    assert body.get("response_format", {}).get("type") == sent


@pytest.mark.parametrize(
    ("wire", "path"),
    [
        ("openai", ("response_format", "json_schema", "schema")),
        ("anthropic", ("output_config", "format", "schema")),
        ("gemini", ("generationConfig", "responseJsonSchema")),
    ],
)
def test_the_schema_reaches_every_provider_as_it_is(wire: str, path: tuple[str, ...]) -> None:
    mark = {"anyOf": [{"type": "integer", "enum": [1, 5]}, {"type": "string", "enum": ["no"]}]}
    schema = {**SCHEMA, "properties": {"c1": mark}, "required": ["c1"]}
    with answering(Body(content=b"{}")) as server:
        one = call(Aimock(server.url).endpoint(wire), output_schema=schema, max_tokens=9)
        with pytest.raises(RequestError):
            asyncio.run(request(one))
    sent = json.loads(server.requests[0])
    for step in path:
        sent = sent[step]
    assert sent == schema


def test_free_text_has_no_form(aimock: Aimock) -> None:
    aimock.script(says("Hello."))
    reply = asyncio.run(complete(call(aimock.endpoint("openai"))))
    assert reply.text == "Hello."
    (body,) = aimock.requests()
    assert "response_format" not in body
    assert "max_completion_tokens" not in body


@pytest.mark.parametrize(
    ("wanted", "option", "sent"),
    [(100, 50, 100), (None, 50, 50), (10**9, None, 128000)],
    ids=["of the call", "of the model", "no more than the model can"],
)
def test_limit(aimock: Aimock, wanted: int | None, option: int | None, sent: int) -> None:
    aimock.script(says("Hello."))
    endpoint = aimock.endpoint("openai", **({"max_tokens": option} if option else {}))
    asyncio.run(complete(call(endpoint, max_tokens=wanted)))
    (body,) = aimock.requests()
    assert body["max_completion_tokens"] == sent


@pytest.mark.parametrize("options", [{}, {"n": 1}], ids=["direct", "litellm"])
@pytest.mark.parametrize(
    ("own", "cost"),
    [
        ({"input_cost_per_token": 0.001, "output_cost_per_token": 0.01}, 100 * 0.001 + 20 * 0.01),
        ({"input_cost_per_token": 0.001}, 100 * 0.001),
    ],
    ids=["both", "of the input"],
)
def test_prices_of_ones_own(
    own: dict[str, float], cost: float, options: dict[str, int], aimock: Aimock
) -> None:
    aimock.script(says("Hello."))
    server = aimock.endpoint("openai", **options).options
    endpoint = Endpoint(model="openai/my-own", options={**server, **own})
    reply = asyncio.run(complete(call(endpoint)))
    assert reply.usage.cost_usd == pytest.approx(cost)
    assert reply.usage.unpriced_calls == 0
    (body,) = aimock.requests()
    assert "input_cost_per_token" not in body


def test_a_model_that_nobody_knows_has_no_price(aimock: Aimock) -> None:
    aimock.script(says("Hello."))
    endpoint = Endpoint(model="openai/my-own", options=aimock.endpoint("openai").options)
    reply = asyncio.run(complete(call(endpoint)))
    assert (reply.usage.cost_usd, reply.usage.unpriced_calls) == (0.0, 1)
    assert prices_of(endpoint) is None


def test_known_prices() -> None:
    known = prices_of(Endpoint(model="openai/gpt-6-luna"))
    assert known is not None
    assert 0 < known.input < known.output
    assert known.most_output_tokens == 128000


@pytest.mark.parametrize(
    ("model", "variable"),
    [
        ("openai/gpt-6-luna", "OPENAI_API_KEY"),
        ("anthropic/claude-sonnet-5-5", "ANTHROPIC_API_KEY"),
        ("gemini/gemini-3.8-flash", "GEMINI_API_KEY"),
    ],
)
def test_a_missing_key_is_named_and_not_tried_again(
    monkeypatch: pytest.MonkeyPatch, model: str, variable: str
) -> None:
    for name in (variable, "GOOGLE_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_ADMIN_KEY"):
        monkeypatch.delenv(name, raising=False)
    # The reserved domain is no host; a server on this machine needs no key of OpenAI's format.
    options = {"api_base": "http://nowhere.invalid:9"}
    with pytest.raises(RequestError, match=variable) as ended:
        asyncio.run(request(call(Endpoint(model=model, options=options))))
    assert not ended.value.retryable


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


@pytest.mark.parametrize("wire", ["openai", "anthropic", "gemini"])
def test_nobody_listens_there(wire: str) -> None:
    # A port with the digits of a status, which litellm would read as one.
    gone = next(port for port in range(40300, 40400) if _is_free(port))
    with pytest.raises(RequestError, match="cannot connect") as ended:
        asyncio.run(request(call(Aimock(f"http://127.0.0.1:{gone}").endpoint(wire))))
    assert ended.value.retryable
    assert not ended.value.billed  # nothing was sent


@pytest.mark.parametrize("wire", ["openai", "anthropic", "gemini"])
def test_a_request_that_was_sent_may_be_billed(wire: str) -> None:
    with hanging_up() as url, pytest.raises(RequestError) as ended:
        asyncio.run(request(call(Aimock(url).endpoint(wire))))
    assert ended.value.retryable
    assert ended.value.billed


def test_importing_the_edge_loads_no_library() -> None:
    probe = (
        "import sys, rubric_ci.models.llm.client; "
        "print([m for m in ('litellm', 'openai', 'aiohttp') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "[]\n"


IMPORTING = """\
import asyncio
from rubric_ci.models.llm.client import request
from rubric_ci.values.targets import Endpoint
from rubric_ci.values.llm_calls import ChatMessage, ModelCall
from rubric_ci.models.llm.failures import RequestError

async def main():
    options = {"api_base": "http://127.0.0.1:9", "api_key": "x"}
    endpoint = Endpoint(model="mistral/m", options=options)
    messages = (ChatMessage(role="user", content="Hello"),)
    call = ModelCall(endpoint=endpoint, messages=messages, key="k")
    asked = [asyncio.ensure_future(request(call)) for _ in range(9)]
    beats = 0
    while not any(one.done() for one in asked):
        await asyncio.sleep(0.02)
        beats += 1
    print(beats)
    results = await asyncio.gather(*asked, return_exceptions=True)
    assert all(isinstance(r, RequestError) for r in results), results

asyncio.run(main())
"""


@pytest.mark.deep
def test_the_import_does_not_stop_the_loop() -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORTING], capture_output=True, text=True, check=True, timeout=100
    )
    # Two seconds of import, many more on a busy machine; a blocked loop beats once or twice.
    assert int(done.stdout) > 10, done.stdout
