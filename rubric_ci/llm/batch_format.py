"""JSON Lines of a batch: its requests, and the reply or error of each."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from rubric_ci.llm.error_body import error_message
from rubric_ci.llm.model_info import batch_prices_of
from rubric_ci.llm.openai_format import chat_body, read_reply
from rubric_ci.llm.retry import RequestError
from rubric_ci.model.json_value import JSON
from rubric_ci.model.llm_calls import ModelCall, ModelReply
from rubric_ci.system.masking import redact

_NEVER_RUN = frozenset({"batch_cancelled", "batch_expired"})
"""Codes of requests that were not processed; they are not retried, which could take a day more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchResult:
    """The result of a batch."""

    id: str
    status: str  # completed | failed | expired | cancelled
    reason: str = ""  # why it failed
    texts: tuple[str, ...] = ()  # of its files


def request_lines(calls: Iterable[ModelCall]) -> str:
    """Return the input file of a batch; the requests are numbered."""
    return "".join(f"{json.dumps(_request(n, call))}\n" for n, call in enumerate(calls))


def read_batch(calls: Sequence[ModelCall], ended: BatchResult) -> list[ModelReply | RequestError]:
    """Return the reply or error of each call, in their order."""
    lines = _by_id(ended.texts)
    return [_outcome(call, lines.get(str(n), []), ended) for n, call in enumerate(calls)]


def _request(number: int, call: ModelCall) -> Mapping[str, JSON]:
    return {
        "custom_id": str(number),
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": chat_body(call),
    }


def _by_id(texts: Iterable[str]) -> Mapping[str, list[JSON]]:
    """Group the lines by request; a line that cannot be read is ignored."""
    found: dict[str, list[JSON]] = {}
    for line in (line for text in texts for line in text.split("\n")):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        match value:
            case {"custom_id": str(name)} if value not in found.setdefault(name, []):
                found[name].append(value)
    return found


def _outcome(
    call: ModelCall, lines: Sequence[JSON], ended: BatchResult
) -> ModelReply | RequestError:
    match lines:
        case []:
            return _no_reply(ended)
        case [line]:
            try:
                return _at_batch_price(call, _reply(call, line, f"batch {ended.id}"))
            except RequestError as error:
                return error
        case _:
            return RequestError(
                f"batch {ended.id}: several replies to this request", retryable=True
            )


def _no_reply(ended: BatchResult) -> RequestError:
    if ended.status == "completed":
        return RequestError(f"batch {ended.id}: no reply to this request", retryable=True)
    why = f": {ended.reason}" if ended.reason else ", without a reply to this request"
    return RequestError(f"batch {ended.id} {ended.status}{why}", retryable=False, billed=False)


def _reply(call: ModelCall, line: JSON, batch: str) -> ModelReply:
    match line:
        case {"response": {"status_code": 200, "body": Mapping() as body}}:
            return read_reply(call, body)
        case {"response": {"status_code": int(status), "body": body}} if status >= 400:
            raise RequestError(f"{batch}: HTTP {status}: {error_message(body)}", status=status)
        case {"error": Mapping() as error}:
            retryable = error.get("code") not in _NEVER_RUN
            raise RequestError(
                f"{batch}: {error_message(error)}", retryable=retryable, billed=False
            )
        case _:
            raise RequestError(
                f"{batch}: broken reply: {redact(json.dumps(line))[:200]}", retryable=True
            )


def _at_batch_price(call: ModelCall, reply: ModelReply) -> ModelReply:
    used, prices = reply.usage, batch_prices_of(call.endpoint)
    if prices is None or not used.input_tokens:
        return replace(reply, usage=replace(used, cost_usd=0.0, unpriced_calls=1))
    cost = used.input_tokens * prices.input + used.output_tokens * prices.output
    return replace(reply, usage=replace(used, cost_usd=cost, unpriced_calls=0))
