"""Batches over HTTP, through litellm, against a server that no one here wrote."""

import asyncio

import pytest

from rubric_ci.errors import CannotConfigure
from rubric_ci.model.config import Endpoint
from rubric_ci.model.llm_calls import ChatMessage, ModelCall, ModelReply
from rubric_ci.models.llm.batch import send_batch
from rubric_ci.models.llm.retry import RequestError
from rubric_ci.system.backoff import Backoff
from tests.aimock import Aimock, says


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
        model="openai/gpt-6-luna",
        options={"api_base": "http://127.0.0.1:9/v1", "api_key": "none"},
    )
    twice = Backoff(attempts=2)
    [error] = asyncio.run(send_batch([call(nowhere)], notify=print, poll=0.05, backoff=twice))
    assert isinstance(error, RequestError)
    assert str(error) == "batch: cannot connect to the server; check `api_base`"
    assert (error.retryable, error.billed) == (False, False)


def test_a_model_without_batches_is_refused() -> None:
    claude = Endpoint(model="anthropic/claude-sonnet-5-5", options={"api_key": "none"})
    with pytest.raises(CannotConfigure) as refused:
        asyncio.run(send_batch([call(claude)], notify=print, poll=0.05))
    assert refused.value.message == "`anthropic/claude-sonnet-5-5` does not support batches"
