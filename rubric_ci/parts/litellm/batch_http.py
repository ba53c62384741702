"""The batch API of OpenAI's format: lines of its files, and its requests."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar
from urllib.parse import quote

from rubric_ci.models.llm import direct_http, openai_http
from rubric_ci.models.llm.failures import RequestError, error_message, find_error
from rubric_ci.models.llm.http_guard import MAX_FILE
from rubric_ci.models.llm.model_info import batch_prices_of
from rubric_ci.models.llm.openai_http import chat_body, read_reply
from rubric_ci.system.backoff import Backoff
from rubric_ci.system.output_and_masking import redact
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.json_value import JSON, parsed
from rubric_ci.values.llm_calls import ModelCall, ModelReply
from rubric_ci.values.targets import Endpoint

STEP_SECONDS = 120.0  # for one request about a batch
FILE_SECONDS = 900.0  # for a file, which may be large
WINDOW = "24h"  # the only one that providers offer
_LISTED = 100  # batches, the newest first
T = TypeVar("T")
_NEVER_RUN = frozenset({"batch_cancelled", "batch_expired"})
"""Codes of requests that were not processed; they are not retried, which could take a day more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    id: str
    status: str  # completed | failed | expired | cancelled, or not ended
    reason: str  # why it failed
    files: tuple[str, ...]  # of its replies and errors


def request_lines(calls: Iterable[ModelCall]) -> str:
    """Return the input file of a batch; the requests are numbered."""
    return "".join(f"{json.dumps(_request(n, call))}\n" for n, call in enumerate(calls))


def read_batch(
    calls: Mapping[int, ModelCall], ended: Batch, texts: Iterable[str]
) -> list[ModelReply | RequestError]:
    """Return the reply or error of each call, in their order, from the texts of the files.

    `calls` are by their numbers in the batch.
    """
    lines = _by_id(texts)
    return [_outcome(call, lines.get(str(n), []), ended) for n, call in calls.items()]


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
        match value := parsed(line):
            case {"custom_id": str(name)} if value not in found.setdefault(name, []):
                found[name].append(value)
    return found


def _outcome(call: ModelCall, lines: Sequence[JSON], ended: Batch) -> ModelReply | RequestError:
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


def _no_reply(ended: Batch) -> RequestError:
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


class BatchServer:
    def __init__(self, endpoint: Endpoint, backoff: Backoff) -> None:
        self._endpoint = endpoint
        self._backoff = backoff
        self._headers = openai_http.headers_of(endpoint)
        self.address = openai_http.server_of(endpoint)[0]

    async def upload(self, calls: Sequence[ModelCall]) -> str:
        content = request_lines(calls).encode("utf-8", "surrogatepass")
        return await self._with_retries(lambda: self._upload(content))

    async def begin(self, file: str) -> Batch:
        return await self._with_retries(lambda: self._create(file))

    async def find(self, file: str, batch_id: str = "") -> Batch | None:
        """Return the batch of a file, also by its id; None: the server has none."""
        if batch_id:
            try:
                return await self._with_retries(lambda: self.look(batch_id))
            except RequestError as error:
                if error.status != 404:
                    raise
                return None
        url = f"{self._url('batches')}?limit={_LISTED}"
        listed = await self._with_retries(
            lambda: _within(STEP_SECONDS, direct_http.get(url, self._headers))
        )
        match listed:
            case {"data": list(every)}:
                of_file = (each for each in every if _has_file(each, file))
                return next(map(_batch, of_file), None)
            case _:
                return None

    async def look(self, batch_id: str) -> Batch:
        """Return the current state of a batch, without retries."""
        url = self._url("batches", batch_id)
        return _batch(await _within(STEP_SECONDS, direct_http.get(url, self._headers)))

    async def read(self, file_id: str) -> str:
        url = self._url("files", file_id, "content")
        content, _ = await self._with_retries(
            lambda: _within(
                FILE_SECONDS, direct_http.send("GET", url, self._headers, limit=MAX_FILE)
            )
        )
        return content.decode("utf-8", "replace")

    async def cancel(self, batch_id: str) -> None:
        await self._post({}, "batches", batch_id, "cancel")

    async def _upload(self, content: bytes) -> str:
        url, fields = self._url("files"), {"purpose": "batch"}
        sent = direct_http.upload(url, self._headers, fields, "requests.jsonl", content)
        match await _within(FILE_SECONDS, sent):
            case {"id": str(name)}:
                return name
            case reply:
                raise find_error(reply) or direct_http.broken_format()

    async def _create(self, file_id: str) -> Batch:
        wanted = {
            "completion_window": WINDOW,
            "endpoint": "/v1/chat/completions",
            "input_file_id": file_id,
        }
        try:
            return _batch(await self._post(wanted, "batches"))
        except RequestError as error:
            if not error.billed:
                raise
            # A retry could start a second batch.
            message = f"{error}; a batch may have been created all the same, and be billed"
            raise RequestError(message, retryable=False, billed=True) from error

    async def _post(self, body: Mapping[str, JSON], *path: str) -> Mapping[str, JSON]:
        sent = direct_http.post(self._url(*path), self._headers, body)
        reply, _ = await _within(STEP_SECONDS, sent)
        return reply

    def _url(self, *path: str) -> str:
        return openai_http.url_of(self._endpoint, "/".join(quote(part, safe="") for part in path))

    async def _with_retries(self, step: Callable[[], Awaitable[T]]) -> T:
        for attempt in range(1, self._backoff.attempts + 1):
            try:
                return await step()
            except RequestError as error:
                wait = error.wait_after(attempt, self._backoff)
                if wait is None:
                    raise
            await asyncio.sleep(wait)
        raise AssertionError("unreachable: the last attempt returns or raises")


async def _within(seconds: float, step: Awaitable[T]) -> T:
    try:
        async with asyncio.timeout(seconds):
            return await step
    except TimeoutError as error:
        raise RequestError(f"no reply within {seconds:g} s", status=408) from error


def _batch(reply: Mapping[str, JSON]) -> Batch:
    match reply:
        case {"id": str(name), "status": str(status)}:
            files = (reply.get("output_file_id"), reply.get("error_file_id"))
            return Batch(
                id=name,
                status=status,
                reason=_reason(reply.get("errors")),
                files=tuple(file for file in files if isinstance(file, str) and file),
            )
        case _:
            raise find_error(reply) or direct_http.broken_format()


def _has_file(batch: JSON, file: str) -> bool:
    return isinstance(batch, dict) and batch.get("input_file_id") == file


def _reason(errors: JSON) -> str:
    match errors:
        case {"data": list(entries)}:
            said = (entry.get("message") for entry in entries if isinstance(entry, Mapping))
            return "; ".join(text for text in said if text and isinstance(text, str))
        case _:
            return ""
