"""How many requests are under way at once; one 429 narrows it for all, success widens it again."""

import asyncio

from rubric_ci.llm.retry import RequestError
from rubric_ci.model.llm_calls import Ask, ModelCall, ModelReply


class RateLimiter:
    """Halved by a 429, one wider after every full round of replies, never wider than at first."""

    def __init__(self, widest: int) -> None:
        self._widest = widest
        self._width = float(widest)
        self._under_way = 0
        self._narrowings = 0
        self._changed = asyncio.Condition()

    @property
    def width(self) -> int:
        """Return how many requests may be under way now."""
        return int(self._width)

    def wrap(self, request: Ask) -> Ask:
        """Return the request, sent only when there is room for it."""

        async def asked(call: ModelCall) -> ModelReply:
            await self._enter()
            seen = self._narrowings
            try:
                reply = await request(call)
            except RequestError as trouble:
                if trouble.status == 429:
                    self._narrow(seen)
                raise
            else:
                self._widen()
                return reply
            finally:
                await self._leave()

        return asked

    async def _enter(self) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: self._under_way < self.width)
            self._under_way += 1

    async def _leave(self) -> None:
        async with self._changed:
            self._under_way -= 1
            self._changed.notify(max(1, self.width - self._under_way))

    def _narrow(self, seen: int) -> None:
        # Requests that were sent before the last narrowing tell nothing about the new width.
        if seen == self._narrowings:
            self._narrowings += 1
            self._width = max(1.0, self._width / 2)

    def _widen(self) -> None:
        self._width = min(float(self._widest), self._width + 1 / self._width)
