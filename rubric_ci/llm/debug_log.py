"""Log of model requests and replies for `RUBRIC_CI_DEBUG`, with secrets replaced by `***`."""

import json
from collections.abc import Iterable, Iterator
from typing import TextIO

from rubric_ci.errors import NoVerdict
from rubric_ci.model.llm_calls import ModelCall, ModelCaller, ModelReply
from rubric_ci.system.masking import redact
from rubric_ci.text import escape


def log_requests(ask: ModelCaller, stream: TextIO) -> ModelCaller:
    """Return a caller that writes each request and its reply or error.

    No line can be a workflow command: each begins with the number of its request.
    """
    sent = 0

    async def ask_and_log(call: ModelCall) -> ModelReply:
        nonlocal sent
        sent += 1
        number = sent
        _write(stream, number, _request(call))
        try:
            reply = await ask(call)
        except NoVerdict as error:
            _write(stream, number, [f"error: {error}"])
            raise
        _write(stream, number, _reply(reply))
        return reply

    return ask_and_log


def _request(call: ModelCall) -> Iterator[str]:
    yield f"request to {call.endpoint.model} ({call.about})"
    if call.output_schema is not None:
        yield f"schema: {json.dumps(call.output_schema)}"
    for message in call.messages:
        yield f"{message.role}: {message.content}"


def _reply(reply: ModelReply) -> Iterator[str]:
    used = reply.usage
    yield f"reply: {used.input_tokens} + {used.output_tokens} tokens, finish {reply.finish}"
    yield reply.text


def _write(stream: TextIO, number: int, parts: Iterable[str]) -> None:
    for part in parts:
        for line in redact(part).splitlines():
            print(f"[debug {number}] {escape.log_line(line)}", file=stream, flush=True)
