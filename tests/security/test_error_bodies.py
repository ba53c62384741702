"""Error bodies of a megabyte: they are cut before any library reads them."""

import asyncio
from time import process_time

import pytest

from rubric_ci.models.llm.client import request
from rubric_ci.models.llm.failures import RequestError
from rubric_ci.parts.litellm.litellm_client import loaded_litellm
from tests.cases import build_call
from tests.http_server import JsonHandler, serving

SIZE = 1_000_000
MODELS = {
    "openai": "openai/gpt-6.1-sol",
    "anthropic": "anthropic/claude-sonnet-5-5",
    "mistral, through litellm": "mistral/mistral-small-latest",
    "cohere, through litellm": "cohere_chat/command-r",
}
BODIES = {
    "message": b'{"error": {"message": "' + b"a" * SIZE + b'", "type": "bad"}}',
    "words": b"a " * (SIZE // 2),
    "braces": b"{" * SIZE,
    "objects": b'{"a":' * (SIZE // 5),
    "escapes": b'{"error": "' + b"\\n" * (SIZE // 2) + b'"}',
    "quotes": b"'\"" * (SIZE // 2),
    "lines": b"Error: \n" * (SIZE // 8),
    "page": b"<html>" + b"<p>" * (SIZE // 3),
}
FEW = {("mistral, through litellm", "message"), ("cohere, through litellm", "quotes")}
"""litellm hides secrets in each error text, for 0.4 s: `make test` has these two of them."""
ASKED = [
    pytest.param(
        model,
        body,
        (400, 500)[(number // 2 + index) % 2],
        marks=() if index < 2 or (model, body) in FEW else pytest.mark.deep,
    )
    for index, model in enumerate(MODELS)
    for number, body in enumerate(BODIES)
]


@pytest.mark.parametrize(("model", "name", "status"), ASKED)
def test_a_long_error_takes_no_time(model: str, name: str, status: int) -> None:
    body = BODIES[name]

    class Handler(JsonHandler):
        def do_POST(self) -> None:
            self.body()
            self.send(status, body)

    asyncio.run(loaded_litellm("openai/m"))
    with serving(Handler) as server:
        started = process_time()
        error = refusal(MODELS[model], server.url)
    assert process_time() - started < 3  # uncut, litellm takes five and more
    assert (error.status, str(error).startswith(f"HTTP {status}: ")) == (status, True)
    assert len(str(error)) < 1000


def refusal(model: str, url: str) -> RequestError:
    with pytest.raises(RequestError) as caught:
        asyncio.run(request(build_call(model, options={"api_base": url, "api_key": "k"})))
    return caught.value
