"""The chain of a model request: retry, rate limiter, budget, then the server."""

import asyncio
from dataclasses import replace

from rubric_ci.llm import judge_command
from rubric_ci.llm.budget import Budget, Caps
from rubric_ci.llm.circuit_breaker import CircuitBreaker
from rubric_ci.llm.direct import provider_of
from rubric_ci.llm.learned import AddNote, OutputModes
from rubric_ci.llm.litellm_client import ask_litellm, load_litellm, loaded_litellm, output_mode
from rubric_ci.llm.model_info import known_mode, prices_of
from rubric_ci.llm.retry import RequestError, with_retries
from rubric_ci.llm.workload_identity import authenticated
from rubric_ci.model.config import OutputMode
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


def connect(
    *, concurrency: int, caps: Caps, add_note: AddNote, breaker: CircuitBreaker
) -> ModelCaller:
    """Return an Ask for a whole run: with retries, one rate limiter and the caps of the run."""
    limiter, budget = RateLimiter(concurrency), Budget(caps, prices_of)
    modes = OutputModes(output_mode_of, add_note)
    ask = modes.wrap(limiter.wrap(budget.wrap(request)))
    return breaker.wrap(with_retries(ask, sleep=budget.sleep))


def output_mode_of(call: ModelCall) -> OutputMode:
    """Return the output mode used for a call that names none."""
    model = call.endpoint.model
    if provider_of(call.endpoint):
        return known_mode(model)
    return output_mode(load_litellm(), model)


async def complete(call: ModelCall) -> ModelReply:
    """Send a call with retries; raises CannotReachModel."""
    return await with_retries(request)(call)


async def request(call: ModelCall) -> ModelReply:
    """Send one request; raises RequestError."""
    provider = provider_of(call.endpoint)
    if provider is None:
        await loaded_litellm()
    timeout = call.endpoint.timeout_seconds
    try:
        # NOTE: the libraries' own timeout is between two bytes; a slow server could take for ever.
        async with judge_command.turn(call.endpoint), asyncio.timeout(timeout):
            if call.endpoint.identity:
                call = replace(call, endpoint=await authenticated(call.endpoint))
            return await (provider.ask(call) if provider else ask_litellm(call))
    except TimeoutError as error:
        raise RequestError(f"no reply within {timeout:g} s", status=408) from error
