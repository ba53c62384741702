"""The batch API of OpenAI's format: lines of its files, and its requests."""

import asyncio
import json
import warnings
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any, TypeVar

from rubric_ci.model.config import Endpoint
from rubric_ci.model.dataclass import dataclass
from rubric_ci.model.json_value import JSON
from rubric_ci.model.llm_calls import ModelCall, ModelReply
from rubric_ci.models.llm import http_guard, openai_http
from rubric_ci.models.llm.failures import error_message
from rubric_ci.models.llm.litellm_client import request_error
from rubric_ci.models.llm.model_info import batch_prices_of
from rubric_ci.models.llm.openai_http import chat_body, read_reply
from rubric_ci.models.llm.retry import RequestError
from rubric_ci.system.backoff import Backoff
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


STEP_SECONDS = 120.0  # for one request about a batch; an upload may be large
WINDOW = "24h"  # the only one that providers offer

# OpenAI's client and litellm raise these for a reply of status 200 that is not OpenAI's.
_NOT_UNDERSTOOD = (AttributeError, KeyError, TypeError, ValueError)

T = TypeVar("T")


class BatchServer:
    """The batches of one account."""

    def __init__(self, litellm: ModuleType, endpoint: Endpoint, backoff: Backoff) -> None:
        # NOTE: some versions of litellm create a coroutine that reads a finished batch and never
        # await it; the same happens to the coroutine of a step when the run is stopped.
        not_awaited = r"coroutine '.*(afile_content|OpenAI\w+API\.\w+)' was never awaited"
        warnings.filterwarnings("ignore", not_awaited)
        self._litellm = litellm
        self._backoff = backoff
        self.address, key = openai_http.server_of(endpoint)
        self._account = {
            "custom_llm_provider": "openai",
            "api_base": self.address,
            "api_key": key,
            "extra_headers": openai_http.headers_of(endpoint),
            "timeout": STEP_SECONDS,
            "max_retries": 0,
        }

    async def begin(self, calls: Sequence[ModelCall]) -> Any:
        """Upload the requests and return the new batch."""
        content = request_lines(calls).encode("utf-8", "surrogatepass")
        file = await self._with_retries(
            lambda: self._litellm.acreate_file(
                file=("requests.jsonl", content), purpose="batch", **self._account
            )
        )
        return await self._with_retries(lambda: self._create(file.id))

    async def look(self, batch_id: str) -> Any:
        """Return the current state of a batch, without retries."""
        return await _once(
            lambda: self._litellm.aretrieve_batch(batch_id=batch_id, **self._account)
        )

    async def read(self, file_id: str) -> str:
        """Return the text of a file."""
        limit = http_guard.max_bytes.set(http_guard.MAX_FILE)
        try:
            content = await self._with_retries(
                lambda: self._litellm.afile_content(file_id=file_id, **self._account)
            )
        finally:
            http_guard.max_bytes.reset(limit)
        text: str = content.content.decode("utf-8", "replace")
        return text

    async def cancel(self, batch_id: str) -> None:
        """Cancel a batch."""
        await _once(lambda: self._litellm.acancel_batch(batch_id=batch_id, **self._account))

    async def _create(self, file_id: str) -> Any:
        try:
            return await _once(
                lambda: self._litellm.acreate_batch(
                    completion_window=WINDOW,
                    endpoint="/v1/chat/completions",
                    input_file_id=file_id,
                    **self._account,
                )
            )
        except RequestError as error:
            if not error.billed:
                raise
            # A retry could start a second batch.
            message = f"{error}; a batch may have been created all the same, and be billed"
            raise RequestError(message, retryable=False, billed=True) from error

    async def _with_retries(self, step: Callable[[], Awaitable[T]]) -> T:
        for attempt in range(1, self._backoff.attempts + 1):
            try:
                return await _once(step)
            except RequestError as error:
                wait = error.wait_after(attempt, self._backoff)
                if wait is None:
                    raise
            await asyncio.sleep(wait)
        raise AssertionError("unreachable: the last attempt returns or raises")


async def _once(step: Callable[[], Awaitable[T]]) -> T:
    from openai import OpenAIError  # what every error of litellm's is a kind of

    try:
        return await step()
    except OpenAIError as error:
        raise request_error(error, STEP_SECONDS) from error
    except _NOT_UNDERSTOOD as error:
        message = " ".join(str(error).split())[:200]
        raise RequestError(f"broken reply: {message}", retryable=False) from error
