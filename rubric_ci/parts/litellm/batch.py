"""Requests of a whole run in batches: half the price, replies within a day.

Batches that are paid for and whose replies are not kept yet are noted in the cache folder. A run
that is killed leaves them, and the same command reads them instead of paying again. A batch whose
replies this process has read is dropped when it exits: until then they are being kept.
"""

import asyncio
import atexit
import hashlib
import json
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any, Final, TypeAlias

from rubric_ci.errors import CannotConfigure, CannotWriteFile
from rubric_ci.models.llm import openai_http
from rubric_ci.models.llm.budget import Budget
from rubric_ci.models.llm.cache_and_recording import BATCH
from rubric_ci.models.llm.client import OutputModes
from rubric_ci.models.llm.failures import BACKOFF, RequestError, with_retries
from rubric_ci.models.llm.model_info import Prices, batch_prices_of, known_mode, prices_of
from rubric_ci.parts.litellm.batch_http import Batch, BatchServer, read_batch
from rubric_ci.system.backoff import Backoff
from rubric_ci.system.model_list import model_info
from rubric_ci.text.numbers import plural
from rubric_ci.values.context import JudgementCache
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.llm_calls import AddNote, ModelCall, ModelCaller, ModelReply
from rubric_ci.values.targets import Endpoint

FIRST_POLL = 1.0  # seconds before the first status request, doubled for each later one
LONGEST_POLL = 60.0
FAILED_POLLS = 30  # in a row, after which the status of a batch is unknown
QUIET = 1.0  # seconds without a new call after which a batch is complete
BATCHES = 3  # maximum number of batches that one call is sent in
_ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
_LOST = frozenset({"failed", "expired", "cancelled", "cancelling"})
Send: TypeAlias = Callable[[Sequence[ModelCall]], Awaitable[Sequence[ModelReply | RequestError]]]
"""Send calls together; one reply or error for each, in their order."""
_READ: Final[set[str]] = set()
"""The files of the batches that this process has read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A batch by its file of requests; without an id, the reply to its creation is not known."""

    file: str
    id: str = ""
    digests: tuple[str, ...]  # of its requests, in their order: the keys of the calls

    def numbers(self, wanted: Mapping[int, str]) -> dict[int, int]:
        """Return the number in the batch of each wanted request that it has."""
        places: dict[str, list[int]] = {}
        for number, digest in enumerate(self.digests):
            places.setdefault(digest, []).append(number)
        known = ((n, places.get(digest)) for n, digest in wanted.items())
        return {n: left.pop(0) for n, left in known if left}


class BatchLog:
    """The batches of one account; without a cache, none is kept."""

    def __init__(self, cache: JudgementCache | None, account: str) -> None:
        self._cache = cache
        self._key = hashlib.sha256(f"batches\n{account}".encode()).hexdigest() + BATCH

    def kept(self) -> list[Begun]:
        """Return the batches whose replies are not known to this process."""
        return [each for each in self._every() if each.file not in _READ]

    def keep(self, begun: Begun) -> None:
        """Keep a batch, or what is new about it."""
        self._write([*(each for each in self._every() if each.file != begun.file), begun])

    def drop(self, begun: Begun) -> None:
        every = self._every()
        others = [each for each in every if each.file != begun.file]
        if others != every:
            self._write(others)

    def read(self, begun: Begun) -> None:
        """Drop a batch once the process exits, with its replies kept."""
        _READ.add(begun.file)
        if self._cache:
            atexit.register(partial(self.drop, begun))

    def _every(self) -> list[Begun]:
        try:
            found = json.loads((self._cache and self._cache.get(self._key)) or "[]")
            return [Begun(**{**each, "digests": tuple(each["digests"])}) for each in found]
        except (ValueError, TypeError, KeyError):
            return []

    def _write(self, every: Iterable[Begun]) -> None:
        if self._cache is None:
            return
        listed: list[dict[str, Any]] = [asdict(each) for each in every]
        try:
            self._cache.put(self._key, json.dumps(listed))
        except CannotWriteFile:  # the run goes on, and pays again if it is killed
            return


def connect(
    *, budget: Budget, notify: AddNote, add_note: AddNote, cache: JudgementCache | None = None
) -> ModelCaller:
    """Return an Ask for a whole run that sends its calls in batches, within the budget."""

    async def send(calls: Sequence[ModelCall]) -> list[ModelReply | RequestError]:
        return await send_batch(calls, notify=notify, poll=FIRST_POLL, cache=cache)

    # Without a wait, because all retries of one batch belong into the next one.
    at_once = Backoff(attempts=BATCHES, jitter=lambda: 0.0)
    modes = OutputModes(lambda call: known_mode(call.endpoint.model), add_note)
    ask = modes.wrap(budget.wrap(in_batches(send, quiet=QUIET)))
    return with_retries(ask, backoff=at_once)


def prices(endpoint: Endpoint) -> Prices | None:
    """Return the prices of a model in batches, else its usual ones; None if unknown."""
    return batch_prices_of(endpoint) or prices_of(endpoint)


def check(endpoint: Endpoint) -> None:
    """Raise `CannotConfigure` for a model without batches."""
    if endpoint.identity:
        raise CannotConfigure(
            "a batch outlives the tokens of `judge.auth`",
            "run without RUBRIC_CI_BATCH, or give the judge an `api_key`",
        )
    if not openai_http.supports(endpoint, model_info(endpoint.model)):
        raise CannotConfigure(
            f"`{endpoint.model}` does not support batches",
            "run without RUBRIC_CI_BATCH, or use an `openai/` chat model; set its `api_base` if "
            "the server is not OpenAI's",
        )


async def send_batch(
    calls: Sequence[ModelCall],
    *,
    notify: AddNote,
    poll: float,
    backoff: Backoff = BACKOFF,
    cache: JudgementCache | None = None,
) -> list[ModelReply | RequestError]:
    """Return a reply or an error for each call, in their order.

    Each batch is for one model of one account; `cache` keeps those whose replies are not known yet.
    Raises `CannotConfigure` for one without batches.
    """
    numbers: dict[str, list[int]] = {}
    for n, call in enumerate(calls):
        endpoint = call.endpoint
        check(endpoint)
        headers = sorted(openai_http.headers_of(endpoint).items())
        account = repr((endpoint.model, openai_http.server_of(endpoint), headers))
        numbers.setdefault(account, []).append(n)
    sent = [
        _Account([calls[n] for n in some], BatchLog(cache, account), notify, poll, backoff).send()
        for account, some in numbers.items()
    ]
    replies: dict[int, ModelReply | RequestError] = {}
    for some, outcome in zip(numbers.values(), await asyncio.gather(*sent), strict=True):
        replies.update(zip(some, outcome, strict=True))
    return [replies[n] for n in range(len(calls))]


class _Account:
    """The calls of one account: sent in one batch, after those that a killed run began."""

    def __init__(
        self,
        calls: Sequence[ModelCall],
        log: BatchLog,
        notify: AddNote,
        poll: float,
        backoff: Backoff,
    ) -> None:
        self._calls, self._log, self._notify, self._poll = calls, log, notify, poll
        self._server = BatchServer(calls[0].endpoint, backoff)
        self._digests = dict(enumerate(call.key for call in calls))

    async def send(self) -> Sequence[ModelReply | RequestError]:
        """Return the replies; an error of a batch is the error of every call of it."""
        replies: dict[int, ModelReply | RequestError] = {}
        for begun in self._log.kept():
            left = {n: each for n, each in self._digests.items() if n not in replies}
            if numbers := begun.numbers(left):
                replies.update(await self._outcome(numbers, begun))
        if others := [n for n in self._digests if n not in replies]:
            replies.update(await self._outcome({n: place for place, n in enumerate(others)}))
        return [replies[n] for n in self._digests]

    async def _outcome(
        self, numbers: Mapping[int, int], begun: Begun | None = None
    ) -> Mapping[int, ModelReply | RequestError]:
        """Return the outcomes of some calls, each with its number in the batch."""
        try:
            started = await self._found(begun, numbers) if begun else await self._begin(numbers)
            if started is None:
                return {}
            own = {place: self._calls[n] for n, place in numbers.items()}
            ended = await self._result(*started)
            return dict(zip(numbers, read_batch(own, *ended), strict=True))
        except RequestError as error:  # each step had its retries
            lost = RequestError(f"batch: {error}", retryable=False, billed=error.billed)
            return dict.fromkeys(numbers, lost)

    async def _begin(self, numbers: Iterable[int]) -> tuple[Begun, Batch]:
        calls = [self._calls[n] for n in numbers]
        file = await self._server.upload(calls)
        begun = Begun(file=file, digests=tuple(self._digests[n] for n in numbers))
        self._log.keep(begun)  # before it is created: a killed run finds it by its file
        try:
            batch = await self._server.begin(file)
        except RequestError as error:
            if not error.billed:
                self._log.drop(begun)
            raise
        begun = replace(begun, id=batch.id)
        self._log.keep(begun)
        self._notify(
            f"batch {batch.id}: {plural(len(calls), 'request')} to {calls[0].endpoint.model}; "
            "it may take up to a day, and stopping the run cancels it"
        )
        return begun, batch

    async def _found(self, begun: Begun, numbers: Collection[int]) -> tuple[Begun, Batch] | None:
        """Return the batch of an earlier run; None: it is gone, or has ended without replies."""
        batch = await self._server.find(begun.file, begun.id)
        if batch is None or batch.status in _LOST:
            self._log.drop(begun)
            return None
        self._notify(
            f"batch {batch.id}: begun by a run that was killed; it is read, and not paid again, "
            f"for {plural(len(numbers), 'request')}"
        )
        return replace(begun, id=batch.id), batch

    async def _result(self, begun: Begun, batch: Batch) -> tuple[Batch, Sequence[str]]:
        """Return the batch when it has ended, and the texts of its files."""
        try:
            batch = await self._ended(batch)
            try:
                texts = [await self._server.read(file) for file in batch.files]
            except RequestError as error:
                lost = f"{batch.id} {batch.status}, but its replies cannot be read: {error}"
                raise RequestError(lost, billed=True) from error
        except asyncio.CancelledError:  # the replies would be paid for and not used
            if await self._is_cancelled(batch):
                self._log.drop(begun)
            raise
        self._log.read(begun)
        return batch, texts

    async def _ended(self, batch: Batch) -> Batch:
        """Poll until a batch has ended; single failures are accepted: its replies are paid for."""
        lost, poll = 0, self._poll
        while batch.status not in _ENDED:
            await asyncio.sleep(poll)
            poll = min(LONGEST_POLL, poll * 2)
            try:
                seen, lost = await self._server.look(batch.id), 0
            except RequestError as error:
                lost += 1
                if not error.retryable or lost == FAILED_POLLS:
                    about = f"status of batch {batch.id} is unknown; it may still be billed"
                    raise RequestError(f"{about}: {error}", billed=True) from error
                continue
            if seen.status != batch.status:
                self._notify(f"batch {batch.id}: {seen.status.replace('_', ' ')}")
            batch = seen
        return batch

    async def _is_cancelled(self, batch: Batch) -> bool:
        """Cancel a batch; return False if it goes on."""
        try:
            await self._server.cancel(batch.id)
        except RequestError as error:
            self._notify(
                f"batch {batch.id}: cannot be cancelled: {error}; "
                f"it continues and is billed unless you cancel it at {self._server.address}"
            )
            return False
        self._notify(
            f"batch {batch.id}: cancelled; requests that were already processed may be billed"
        )
        return True


def in_batches(send: Send, *, quiet: float) -> ModelCaller:
    """Return an Ask that collects calls into batches; raises RequestError."""
    waiting: list[tuple[ModelCall, asyncio.Future[ModelReply]]] = []
    batches: set[asyncio.Task[None]] = set()

    async def ask(call: ModelCall) -> ModelReply:
        reply: asyncio.Future[ModelReply] = asyncio.get_running_loop().create_future()
        waiting.append((call, reply))
        batch = asyncio.create_task(send_when_quiet(len(waiting)))
        batches.add(batch)  # a loop does not keep a task alive
        batch.add_done_callback(batches.discard)
        return await reply

    async def send_when_quiet(seen: int) -> None:
        await asyncio.sleep(quiet)
        if len(waiting) != seen:  # the task of a later call sends the batch
            return
        batch = [*waiting]
        waiting.clear()
        sent = send([call for call, _ in batch])
        [outcome] = await asyncio.gather(sent, return_exceptions=True)
        replies = [outcome] * len(batch) if isinstance(outcome, BaseException) else outcome
        for (_, future), reply in zip(batch, replies, strict=True):
            if future.done():  # the caller was cancelled
                continue
            if isinstance(reply, BaseException):
                future.set_exception(reply)
            else:
                future.set_result(reply)

    return ask
