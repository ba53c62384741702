"""Batches over HTTP, against a server that no one here wrote."""

import asyncio
import json
import time
from typing import Any

import pytest

from rubric_ci.models.llm.failures import RequestError
from rubric_ci.parts.litellm import batch_http
from rubric_ci.parts.litellm.batch import send_batch
from rubric_ci.system.backoff import Backoff
from rubric_ci.values.llm_calls import ChatMessage, ModelCall, ModelReply
from rubric_ci.values.targets import Endpoint
from tests.aimock import Aimock, says
from tests.batches import providing
from tests.http_server import QuietHandler, serving


def call(endpoint: Endpoint, text: str = "Hello") -> ModelCall:
    said = ChatMessage(role="user", content=text)
    return ModelCall(endpoint=endpoint, messages=(said,), key=text)


def test_a_batch_goes_out_and_comes_back(aimock: Aimock) -> None:
    aimock.script(says("not for batches"))
    calls = [call(aimock.endpoint("openai"), text) for text in ("one", "two", "three")]
    replies = asyncio.run(send_batch(calls, notify=print, poll=0.05))
    # NOTE: the server makes every step of a batch real, but gives each request this same answer.
    assert [reply.text for reply in replies if isinstance(reply, ModelReply)] == [
        "Mock batch completion"
    ] * 3
    assert [reply.usage.calls for reply in replies if isinstance(reply, ModelReply)] == [1, 1, 1]


def test_a_batch_costs_half(aimock: Aimock) -> None:
    aimock.script(says("not for batches"))
    [reply] = asyncio.run(send_batch([call(aimock.endpoint("openai"))], notify=print, poll=0.05))
    assert isinstance(reply, ModelReply)
    whole = 0.1e-6 * reply.usage.input_tokens + 0.5e-6 * reply.usage.output_tokens
    assert reply.usage.cost_usd == pytest.approx(whole / 2)
    assert reply.usage.unpriced_calls == 0


def test_an_unreachable_server_fails_the_batch() -> None:
    nowhere = Endpoint(
        model="openai/gpt-6-luna", options={"api_base": "http://127.0.0.1:9/v1", "api_key": "none"}
    )
    twice = Backoff(attempts=2)
    [error] = asyncio.run(send_batch([call(nowhere)], notify=print, poll=0.05, backoff=twice))
    assert isinstance(error, RequestError)
    assert str(error) == "batch: cannot connect to 127.0.0.1:9: Connection refused"
    assert (error.retryable, error.billed) == (False, False)


def test_a_batch_is_for_one_account() -> None:
    """A gateway tells teams by their headers: no request goes out under those of another."""
    with providing(lambda body: "Hi") as provider:
        options = {"api_base": f"{provider.url}/v1", "api_key": "none"}
        teams = [{**options, "extra_headers": {"X-Team": team}} for team in ("shop", "bank")]
        calls = [call(Endpoint(model="openai/gpt-6-luna", options=each)) for each in teams]
        asyncio.run(send_batch([*calls, calls[0]], notify=print, poll=0.01))
    steps = zip(provider.journal, provider.headers, strict=True)
    begun = [sent["X-Team"] for step, sent in steps if step == "POST /v1/batches"]
    assert (sorted(begun), sorted(map(len, provider.sent))) == (["bank", "shop"], [1, 2])


FILE = {"id": "file-1", "object": "file"}
BEGUN = {"id": "batch_1", "status": "validating"}
BILLED = "a batch may have been created all the same, and be billed"
UNKNOWN = "batch: status of batch batch_1 is unknown; it may still be billed"
NO_FORMAT = "broken reply: not in the provider's format"


@pytest.mark.parametrize(
    ("replies", "said", "billed"),
    [
        ([{}], f"batch: {NO_FORMAT}", True),
        ([{"error": {"message": "no disk"}}], "batch: the reply is an error: no disk", False),
        ([None], "batch: no reply within 0.2 s", True),
        ([FILE, {"id": 1}], f"batch: {NO_FORMAT}; {BILLED}", True),
        ([FILE, None], f"batch: no reply within 0.2 s; {BILLED}", True),
        ([FILE, BEGUN, {"id": "batch_1"}], f"{UNKNOWN}: {NO_FORMAT}", True),
        (
            [FILE, BEGUN, {**BEGUN, "status": "failed", "errors": {"data": [{"message": "full"}]}}],
            "batch batch_1 failed: full",
            False,
        ),
        (
            [FILE, BEGUN, {**BEGUN, "status": "failed", "errors": {"data": ["full"]}}],
            "batch batch_1 failed, without a reply to this request",
            False,
        ),
    ],
)
def test_a_reply_of_another_format_and_none(
    monkeypatch: pytest.MonkeyPatch, replies: list[Any], said: str, billed: bool
) -> None:
    """The last reply comes again and again; None: it does not come in time."""
    monkeypatch.setattr("rubric_ci.parts.litellm.batch.FAILED_POLLS", 2)
    if replies[-1] is None:  # to the first request with this limit
        limit = "FILE_SECONDS" if len(replies) == 1 else "STEP_SECONDS"
        monkeypatch.setattr(batch_http, limit, 0.2)
    left = [*replies]

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            self.body()
            reply = left.pop(0) if len(left) > 1 else left[0]
            if reply is None:
                time.sleep(0.5)
            self.respond(200, json.dumps(reply).encode())

        def do_POST(self) -> None:
            self.do_GET()

    with serving(Handler) as server:
        options = {"api_base": server.url, "api_key": "none"}
        endpoint = Endpoint(model="openai/gpt-6-luna", options=options)
        once = Backoff(attempts=1)
        sent = send_batch([call(endpoint)], notify=print, poll=0.01, backoff=once)
        [error] = asyncio.run(sent)
    assert isinstance(error, RequestError)
    assert (str(error), error.billed) == (said, billed)
