"""What `--debug` writes of a request, its reply and its error."""

import asyncio
from io import StringIO

import pytest

from rubric_ci.errors import CannotReachModel
from rubric_ci.models.llm.recording import log_requests
from rubric_ci.system import masking
from rubric_ci.values.config import Endpoint
from rubric_ci.values.llm_calls import ChatMessage, ModelCall, ModelCaller, ModelReply

CALL = ModelCall(
    endpoint=Endpoint(model="openai/gpt-6-luna"),
    messages=(
        ChatMessage(role="system", content="Mark the answer."),
        ChatMessage(role="user", content="one\n::error::two s3cr3t-key"),
    ),
    key="0",
    about="evals/a.yaml: case-1: rubric",
    output_schema={"type": "object"},
)


async def replies(_: ModelCall) -> ModelReply:
    return ModelReply(text='{"c1": 1}\n::stop::')


async def fails(_: ModelCall) -> ModelReply:
    raise CannotReachModel("HTTP 401: wrong key s3cr3t-key")


async def asked(ask: ModelCaller) -> ModelReply:
    return await ask(CALL)


def test_requests_and_replies() -> None:
    masking.hide(["s3cr3t-key"])
    stream = StringIO()
    logged = log_requests(replies, stream)
    asyncio.run(asked(logged))
    assert stream.getvalue().splitlines() == [
        "[debug 1] request to openai/gpt-6-luna (evals/a.yaml: case-1: rubric)",
        '[debug 1] schema: {"type": "object"}',
        "[debug 1] system: Mark the answer.",
        "[debug 1] user: one",
        "[debug 1] : :error::two ***",
        "[debug 1] reply: 0 + 0 tokens, finish stop",
        '[debug 1] {"c1": 1}',
        "[debug 1] : :stop::",
    ]


def test_an_error_is_logged_and_raised() -> None:
    masking.hide(["s3cr3t-key"])
    stream = StringIO()
    with pytest.raises(CannotReachModel):
        asyncio.run(asked(log_requests(fails, stream)))
    assert stream.getvalue().splitlines()[-1] == "[debug 1] error: HTTP 401: wrong key ***"
