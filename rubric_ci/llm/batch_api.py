"""A batch of chat requests through litellm's batch API: half the price, within a day; effects."""

import asyncio
import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import ModuleType

from rubric_ci.errors import CannotConfigure
from rubric_ci.llm import chat
from rubric_ci.llm.batching import gathered
from rubric_ci.llm.budget import Budget, Caps
from rubric_ci.llm.chat_format import chat_body, read_reply
from rubric_ci.llm.models import facts_of, prices_of
from rubric_ci.llm.providers import load_litellm
from rubric_ci.llm.transport import Trouble, patient
from rubric_ci.model.config import Endpoint
from rubric_ci.model.evals import JSON
from rubric_ci.model.exchange import Ask, ModelCall, ModelReply

FIRST_POLL = 1.0  # seconds before the first look at a batch, doubled for each later one
LONGEST_POLL = 60.0
WINDOW = "24h"  # the only one that providers offer
_ENDED = frozenset({"completed", "failed", "expired", "cancelled"})


def connect(*, caps: Caps, poll: float = FIRST_POLL) -> Ask:
    """Return an Ask for a whole run whose calls travel in batches, within its caps."""

    async def send(calls: Sequence[ModelCall]) -> list[ModelReply | Trouble]:
        return await send_batch(calls, poll=poll)

    return patient(Budget(caps, prices_of).within(gathered(send)))


async def send_batch(calls: Sequence[ModelCall], *, poll: float) -> list[ModelReply | Trouble]:
    """Return a reply or trouble for each call, in their order.

    Raises Trouble where a whole batch fails, `CannotConfigure` for a model that has no batches.
    """
    for call in calls:
        _check(call.endpoint)
    by_server: dict[tuple[str, str], list[int]] = {}
    for n, call in enumerate(calls):
        by_server.setdefault(chat.server_of(call.endpoint), []).append(n)
    sent = [
        _exchanged(server, [calls[n] for n in numbers], poll)
        for server, numbers in by_server.items()
    ]
    replies: dict[int, ModelReply | Trouble] = {}
    for numbers, some in zip(by_server.values(), await asyncio.gather(*sent), strict=True):
        replies.update(zip(numbers, some, strict=True))
    return [replies[n] for n in range(len(calls))]


async def _exchanged(
    server: tuple[str, str], calls: Sequence[ModelCall], poll: float
) -> list[ModelReply | Trouble]:
    litellm = load_litellm()
    from openai import OpenAIError

    # NOTE: litellm makes a coroutine to read a finished batch for its own books, and forgets it.
    warnings.filterwarnings("ignore", "coroutine '.*afile_content' was never awaited")

    where = {"custom_llm_provider": "openai", "api_base": server[0], "api_key": server[1]}
    try:
        output = await _output(litellm, where, calls, poll)
    except OpenAIError as error:
        status = getattr(error, "status_code", None)
        raise Trouble(f"batch: {error}", status=status) from error
    return [_reply(call, output.get(str(n))) for n, call in enumerate(calls)]


async def _output(
    litellm: ModuleType, where: Mapping[str, str], calls: Sequence[ModelCall], poll: float
) -> dict[str, JSON]:
    """Upload the requests, wait for the batch, and return its lines by number."""
    lines = [_line(n, call) for n, call in enumerate(calls)]
    name = ("requests.jsonl", "".join(f"{json.dumps(line)}\n" for line in lines).encode())
    file = await litellm.acreate_file(file=name, purpose="batch", **where)
    batch = await litellm.acreate_batch(
        completion_window=WINDOW, endpoint="/v1/chat/completions", input_file_id=file.id, **where
    )
    try:
        while batch.status not in _ENDED:
            await asyncio.sleep(poll)
            poll = min(LONGEST_POLL, poll * 2)
            batch = await litellm.aretrieve_batch(batch_id=batch.id, **where)
    except asyncio.CancelledError:  # nobody waits for it any more, so that nobody should pay
        await litellm.acancel_batch(batch_id=batch.id, **where)
        raise
    files = [file for file in (batch.output_file_id, batch.error_file_id) if file]
    if not files:
        raise Trouble(f"batch {batch.id} {batch.status} without any reply", passing=False)
    texts = [(await litellm.afile_content(file_id=file, **where)).text for file in files]
    found = [json.loads(line) for text in texts for line in text.splitlines() if line.strip()]
    return {line["custom_id"]: line for line in found}


def _line(number: int, call: ModelCall) -> dict[str, JSON]:
    return {
        "custom_id": str(number),
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": chat_body(call),
    }


def _reply(call: ModelCall, line: JSON) -> ModelReply | Trouble:
    if line is None:
        return Trouble("the batch has no reply to this request")
    response = line.get("response") or {}
    if response.get("status_code") != 200:
        said = line.get("error") or response.get("body")
        return Trouble(f"batch: {json.dumps(said)}", status=response.get("status_code"))
    try:
        return _at_batch_price(call, read_reply(call, response.get("body") or {}))
    except Trouble as trouble:
        return trouble


def _at_batch_price(call: ModelCall, reply: ModelReply) -> ModelReply:
    known = {**facts_of(call.endpoint.model), **call.endpoint.options}
    whole, less = known.get("input_cost_per_token"), known.get("input_cost_per_token_batches")
    if not whole or not less:
        usage = replace(reply.usage, cost_usd=0.0, unpriced_calls=1)
    else:
        usage = replace(reply.usage, cost_usd=reply.usage.cost_usd * less / whole)
    return replace(reply, usage=usage)


def _check(endpoint: Endpoint) -> None:
    if not chat.speaks(endpoint, facts_of(endpoint.model)):
        raise CannotConfigure(
            f"`{endpoint.model}` cannot be asked in batches",
            "leave --batch out, or use an `openai/` chat model, with an `api_base` of your own "
            "where the server is not OpenAI's",
        )
