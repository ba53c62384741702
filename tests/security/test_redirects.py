"""A server that redirects: no client sends the request, or the key, to another host."""

import asyncio
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus

import pytest

from rubric_ci.errors import CannotReachGitHub
from rubric_ci.github.rest_api import Server, connected, own_login
from rubric_ci.grading.targets import command
from rubric_ci.models.llm.client import request
from rubric_ci.models.llm.failures import RequestError
from rubric_ci.parts.litellm.batch import send_batch
from rubric_ci.system.backoff import Backoff
from rubric_ci.values.llm_calls import ModelCall
from tests.cases import build_call
from tests.http_server import QuietHandler, serving

KEY = "sk-of-the-repository"
STATUSES = (301, 302, 303, 307, 308)


@contextmanager
def recording() -> Iterator[tuple[str, list[str]]]:
    """Serve the other host; yield its URL and the keys of all requests that arrive."""
    arrived: list[str] = []

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            arrived.append(f"{self.command} {self.path} {dict(self.headers)}")
            self.respond(200)

        def do_POST(self) -> None:
            self.do_GET()

    with serving(Handler) as server:
        yield server.url.replace("127.0.0.1", "localhost"), arrived


@contextmanager
def redirecting(status: int, location: str) -> Iterator[str]:
    class Handler(QuietHandler):
        def do_GET(self) -> None:
            self.body()
            self.respond(status, headers={"Location": location + self.path})

        def do_POST(self) -> None:
            self.do_GET()

    with serving(Handler) as server:
        yield server.url


def call(model: str, base: str) -> ModelCall:
    return build_call(model, options={"api_base": base, "api_key": KEY})


MODELS = {
    "openai": "openai/gpt-6-luna",
    "openai through litellm": "together_ai/llama",
    "anthropic": "anthropic/claude-sonnet-5-5",
    "gemini": "gemini/gemini-3.8-flash",
    "mistral": "mistral/mistral-small-latest",
    "azure": "azure/gpt-6.1-sol",
    "cohere": "cohere_chat/command-r",
}


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_a_model(model: str, status: int) -> None:
    with (
        recording() as (other, arrived),
        redirecting(status, other) as base,
        pytest.raises(RequestError) as caught,
    ):
        asyncio.run(request(call(model, base)))
    assert arrived == []
    said = f"HTTP {status}: redirects are not followed; check `api_base`"
    assert (str(caught.value), caught.value.retryable) == (said, False)


def test_a_provider_whose_client_follows() -> None:
    with (
        recording() as (other, arrived),
        redirecting(302, other) as base,
        pytest.raises(RequestError, match="aiohttp_openai/ follows redirects"),
    ):
        asyncio.run(request(call("aiohttp_openai/gpt-6.1-sol", base)))
    assert arrived == []


@pytest.mark.parametrize("status", STATUSES)
def test_a_batch(status: int) -> None:
    with recording() as (other, arrived), redirecting(status, other) as base:
        sent = [call("openai/gpt-6-luna", base)]
        backoff = Backoff(attempts=1)
        (reply,) = asyncio.run(send_batch(sent, notify=warnings.warn, poll=0.01, backoff=backoff))
    assert arrived == []
    said = f"batch: HTTP {status}: redirects are not followed; check `api_base`"
    assert (type(reply), str(reply)) == (RequestError, said)


@pytest.mark.parametrize("status", STATUSES)
def test_github(status: int) -> None:
    with recording() as (other, arrived), redirecting(status, other) as base:
        server = Server(api_url=base, token=KEY, sleep=lambda _: None)
        with pytest.raises(CannotReachGitHub), connected(server, "the user") as client:
            own_login(client)
    assert arrived == []


@pytest.mark.parametrize("status", STATUSES)
def test_a_health_check(status: int) -> None:
    with recording() as (other, arrived), redirecting(status, other) as base:
        said = asyncio.run(command.probe(f"{base}/health", 10))
    assert arrived == []
    answer = f"{status} {HTTPStatus(status).phrase}"
    assert said == f"{base}/health responds with {answer}; redirects are not followed"
