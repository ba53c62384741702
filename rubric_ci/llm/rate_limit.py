"""Adaptive rate limiter: a 429 halves the number of concurrent requests, success raises it."""

import asyncio

from rubric_ci.llm.retry import RequestError
from rubric_ci.model.llm_calls import ModelCall, ModelCaller, ModelReply


class RateLimiter:
    """Limits concurrent requests: additive increase, multiplicative decrease (AIMD).

    The limit is halved by a 429 and rises by one after as many replies as it allows requests.
    """

    def __init__(self, maximum: int) -> None:
        self._maximum = maximum
        self._limit = float(maximum)
        self._in_flight = 0
        self._decreases = 0
        self._changed = asyncio.Condition()

    @property
    def limit(self) -> int:
        """Return the number of requests that may be in flight now."""
        return int(self._limit)

    def wrap(self, request: ModelCaller) -> ModelCaller:
        """Return the request, sent when the limit allows it."""

        async def ask(call: ModelCall) -> ModelReply:
            await self._enter()
            decreases = self._decreases
            try:
                reply = await request(call)
            except RequestError as error:
                if error.status == 429:
                    self._decrease(decreases)
                raise
            else:
                self._increase()
                return reply
            finally:
                await self._leave()

        return ask

    async def _enter(self) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: self._in_flight < self.limit)
            self._in_flight += 1

    async def _leave(self) -> None:
        async with self._changed:
            self._in_flight -= 1
            self._changed.notify(max(1, self.limit - self._in_flight))

    def _decrease(self, decreases: int) -> None:
        # A 429 for a request that was sent before the last decrease is not about the new limit.
        if decreases == self._decreases:
            self._decreases += 1
            self._limit = max(1.0, self._limit / 2)

    def _increase(self) -> None:
        self._limit = min(float(self._maximum), self._limit + 1 / self._limit)
