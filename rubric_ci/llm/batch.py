"""Calls of a whole run in batches, for half the price and within a day; effects."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeAlias

from rubric_ci.errors import CannotConfigure
from rubric_ci.llm import openai_http
from rubric_ci.llm.batch_format import Ended, read_batch
from rubric_ci.llm.batch_http import BatchServer
from rubric_ci.llm.budget import Budget, Caps
from rubric_ci.llm.litellm_client import loaded_litellm
from rubric_ci.llm.model_info import batch_prices_of, model_info, prices_of
from rubric_ci.llm.retry import BACKOFF, RequestError, with_retries
from rubric_ci.model.config import Endpoint
from rubric_ci.model.llm_calls import Ask, ModelCall, ModelReply
from rubric_ci.system.backoff import Backoff

FIRST_POLL = 1.0  # seconds before the first look at a batch, doubled for each later one
LONGEST_POLL = 60.0
LOST_LOOKS = 30  # in a row, after which nobody knows what became of a batch
BATCHES = 3  # at most, that one call travels in

_ENDED = frozenset({"completed", "failed", "expired", "cancelled"})

Tell: TypeAlias = Callable[[str], None]
"""Say how a batch is getting on, to whoever waits for it."""


def connect(*, caps: Caps, tell: Tell) -> Ask:
    """Return an Ask for a whole run whose calls travel in batches, within its caps."""

    async def send(calls: Sequence[ModelCall]) -> list[ModelReply | RequestError]:
        return await send_batch(calls, tell=tell, poll=FIRST_POLL)

    budget = Budget(caps, lambda endpoint: batch_prices_of(endpoint) or prices_of(endpoint))
    # Without a wait, because all retries of one batch belong into the next one.
    at_once = Backoff(attempts=BATCHES, jitter=lambda: 0.0)
    return with_retries(budget.wrap(gathered(send, quiet=QUIET)), backoff=at_once)


def check(endpoint: Endpoint) -> None:
    """Raise `CannotConfigure` for a model that has no batches."""
    if not openai_http.supports(endpoint, model_info(endpoint.model)):
        raise CannotConfigure(
            f"`{endpoint.model}` cannot be asked in batches",
            "leave --batch out, or use an `openai/` chat model, with an `api_base` of your own "
            "where the server is not OpenAI's",
        )


async def send_batch(
    calls: Sequence[ModelCall], *, tell: Tell, poll: float, backoff: Backoff = BACKOFF
) -> list[ModelReply | RequestError]:
    """Return a reply or trouble for each call, in their order.

    A batch is for one model of one account. Raises `CannotConfigure` for one that has no batches.
    """
    numbers: dict[str, list[int]] = {}
    for n, call in enumerate(calls):
        check(call.endpoint)
        numbers.setdefault(_account(call.endpoint), []).append(n)
    sent = [_exchanged([calls[n] for n in some], tell, poll, backoff) for some in numbers.values()]
    replies: dict[int, ModelReply | RequestError] = {}
    for some, outcome in zip(numbers.values(), await asyncio.gather(*sent), strict=True):
        replies.update(zip(some, outcome, strict=True))
    return [replies[n] for n in range(len(calls))]


def _account(endpoint: Endpoint) -> str:
    return repr(
        (endpoint.model, openai_http.server_of(endpoint), sorted(openai_http.headers_of(endpoint)))
    )


async def _exchanged(
    calls: Sequence[ModelCall], tell: Tell, poll: float, backoff: Backoff
) -> Sequence[ModelReply | RequestError]:
    """Send one batch and wait for it; what fails as a whole is the trouble of every call."""
    server = BatchServer(await loaded_litellm(), calls[0].endpoint, backoff)
    try:
        batch = await server.begin(calls)
        many = "1 request" if len(calls) == 1 else f"{len(calls)} requests"
        tell(
            f"batch {batch.id}: {many} to {calls[0].endpoint.model}; "
            "it may take up to a day, and stopping the run cancels it"
        )
        return read_batch(calls, await _waited_for(server, batch, tell, poll))
    except RequestError as trouble:  # each step was repeated already
        return [RequestError(f"batch: {trouble}", retryable=False, billed=trouble.billed)] * len(
            calls
        )


async def _waited_for(server: BatchServer, batch: Any, tell: Tell, poll: float) -> Ended:
    try:
        batch = await _ended(server, batch, tell, poll)
        files = [file for file in (batch.output_file_id, batch.error_file_id) if file]
        try:
            texts = [await server.read(file) for file in files]
        except RequestError as trouble:
            lost = f"{batch.id} {batch.status}, but its replies cannot be read: {trouble}"
            raise RequestError(lost, billed=True) from trouble
    except asyncio.CancelledError:  # nobody waits for it any more, so that nobody should pay
        await _cancelled(server, batch, tell)
        raise
    return Ended(id=batch.id, status=batch.status, reason=_reason(batch), texts=tuple(texts))


async def _ended(server: BatchServer, batch: Any, tell: Tell, poll: float) -> Any:
    """Look at a batch until it has ended; a look may fail, for its replies are paid for."""
    lost = 0
    while batch.status not in _ENDED:
        await asyncio.sleep(poll)
        poll = min(LONGEST_POLL, poll * 2)
        try:
            seen, lost = await server.look(batch.id), 0
        except RequestError as trouble:
            lost += 1
            if not trouble.retryable or lost == LOST_LOOKS:
                unknown = f"nobody knows what became of {batch.id}, which may be billed: {trouble}"
                raise RequestError(unknown, billed=True) from trouble
            continue
        if seen.status != batch.status:
            tell(f"batch {batch.id}: {seen.status.replace('_', ' ')}")
        batch = seen
    return batch


async def _cancelled(server: BatchServer, batch: Any, tell: Tell) -> None:
    try:
        await server.cancel(batch.id)
    except RequestError as trouble:
        tell(
            f"batch {batch.id}: cannot be cancelled: {trouble}; "
            f"it goes on and is billed unless you cancel it at {server.address}"
        )
    else:
        tell(f"batch {batch.id}: cancelled; what it had answered may be billed")


def _reason(batch: Any) -> str:
    errors = batch.errors.data if batch.errors and batch.errors.data else ()
    return "; ".join(error.message for error in errors if error.message)


QUIET = 1.0  # seconds without a new call after which a batch is complete

Send: TypeAlias = Callable[[Sequence[ModelCall]], Awaitable[Sequence[ModelReply | RequestError]]]
"""Send calls together; one reply or trouble for each, in their order."""


def gathered(send: Send, *, quiet: float) -> Ask:
    """Return an Ask whose calls wait for each other; raises Trouble."""
    return _Gathering(send, quiet).ask


class _Gathering:
    """The calls that wait for the next batch."""

    def __init__(self, send: Send, quiet: float) -> None:
        self._send = send
        self._quiet = quiet
        self._waiting: list[tuple[ModelCall, asyncio.Future[ModelReply]]] = []
        self._batches: set[asyncio.Task[None]] = set()

    async def ask(self, call: ModelCall) -> ModelReply:
        reply: asyncio.Future[ModelReply] = asyncio.get_running_loop().create_future()
        self._waiting.append((call, reply))
        batch = asyncio.create_task(self._sent_when_quiet(len(self._waiting)))
        self._batches.add(batch)  # a loop keeps no task alive by itself
        batch.add_done_callback(self._batches.discard)
        return await reply

    async def _sent_when_quiet(self, seen: int) -> None:
        await asyncio.sleep(self._quiet)
        if len(self._waiting) != seen:  # a later call waits for quiet in our place
            return
        batch, self._waiting = self._waiting, []
        sent = self._send([call for call, _ in batch])
        [outcome] = await asyncio.gather(sent, return_exceptions=True)
        replies = [outcome] * len(batch) if isinstance(outcome, BaseException) else outcome
        for (_, future), reply in zip(batch, replies, strict=True):
            _answer(future, reply)


def _answer(future: asyncio.Future[ModelReply], reply: ModelReply | BaseException) -> None:
    if future.done():  # whoever asked was cancelled
        return
    if isinstance(reply, BaseException):
        future.set_exception(reply)
    else:
        future.set_result(reply)
