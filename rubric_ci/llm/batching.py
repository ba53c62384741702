"""Model calls gathered until nobody adds one, then sent together as one batch; effects."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from rubric_ci.llm.transport import Trouble
from rubric_ci.model.exchange import Ask, ModelCall, ModelReply

QUIET = 1.0  # seconds without a new call after which a batch is complete

Send: TypeAlias = Callable[[Sequence[ModelCall]], Awaitable[Sequence[ModelReply | Trouble]]]
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
