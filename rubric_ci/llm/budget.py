"""Hard caps on calls, cost and time: what a request may cost is set aside before it is sent."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from rubric_ci.errors import CannotConfigure, OverBudget
from rubric_ci.llm.retry import RequestError
from rubric_ci.model.config import Endpoint
from rubric_ci.model.llm_calls import Ask, ModelCall, ModelReply, Usage

OVERHEAD_TOKENS = 1000  # what a provider may put around our words, schemas above all
UNKNOWN_OUTPUT = 128_000  # tokens of a model that says neither how long its replies may be


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """What a run may spend on models; None: without limit."""

    calls: int | None = None
    cost_usd: float | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """What a model costs, in dollars per token, and how long its replies may be."""

    input: float
    output: float
    most_output_tokens: int = UNKNOWN_OUTPUT

    def worst(self, call: ModelCall) -> float:
        """Return what a call can cost at most: a token is never less than a byte."""
        texts = [message.content for message in call.messages]
        texts.append(json.dumps(call.output_schema))
        size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
        limit = call.max_tokens or call.endpoint.options.get("max_tokens")
        written = int(limit or self.most_output_tokens)
        return (size + OVERHEAD_TOKENS) * self.input + written * self.output


PriceOf = Callable[[Endpoint], Prices | None]


class Budget:
    """Lets requests through while all of them together are sure to stay within the caps."""

    def __init__(
        self, caps: Caps, price_of: PriceOf, clock: Callable[[], float] = monotonic
    ) -> None:
        self._caps = caps
        self._price_of = price_of
        self._clock = clock
        self._began = clock()
        self._calls = 0
        self._spent = 0.0
        self._reserved = 0.0
        self._unknown = 0  # calls that are counted as spent in full, since nobody knows their cost
        self._closed = ""  # why nothing is let through any more
        self._changed = asyncio.Condition()

    def wrap(self, request: Ask) -> Ask:
        """Return the request, sent only when it fits; raises OverBudget when it does not."""

        async def asked(call: ModelCall) -> ModelReply:
            worst = await self._reserve(call)
            cost: float | None = None
            try:
                async with asyncio.timeout(self._left()) as limit:
                    reply = await request(call)
            except TimeoutError as error:
                if limit.expired():
                    cut = Usage(calls=1, unpriced_calls=1)
                    raise OverBudget(self._close(self._late()), cut) from error
                raise
            except RequestError as trouble:
                cost = None if trouble.billed else 0.0
                raise
            else:
                cost = None if reply.usage.unpriced_calls else reply.usage.cost_usd
                return reply
            finally:
                await self._settle(worst, cost)

        return asked

    async def _reserve(self, call: ModelCall) -> float:
        worst = self._worst(call)
        async with self._changed:
            while not self._fits(worst):
                # What is under way is likely to cost less than was set aside for it.
                await self._changed.wait()
            self._calls += 1
            self._reserved += worst
        return worst

    def _fits(self, worst: float) -> bool:
        if self._closed:
            raise OverBudget(self._closed)
        if (left := self._left()) is not None and left <= 0:
            raise OverBudget(self._close(self._late()))
        if self._caps.calls is not None and self._calls >= self._caps.calls:
            raise OverBudget(self._close(f"budget: all {self._caps.calls} calls are used up"))
        if self._caps.cost_usd is None or self._total(worst) <= self._caps.cost_usd:
            return True
        if self._reserved > 0:
            return False
        raise OverBudget(self._close(self._short(worst)))

    async def _settle(self, worst: float, cost: float | None) -> None:
        """Give back what was set aside and not spent; of a call of unknown cost, nothing."""
        async with self._changed:
            self._reserved = max(0.0, self._reserved - worst)
            self._spent += worst if cost is None else cost
            self._unknown += cost is None
            self._changed.notify_all()

    def _worst(self, call: ModelCall) -> float:
        if self._caps.cost_usd is None:
            return 0.0
        return priced(call.endpoint, self._price_of).worst(call)

    def _total(self, worst: float) -> float:
        return self._spent + self._reserved + worst

    def _left(self) -> float | None:
        if self._caps.seconds is None:
            return None
        return self._caps.seconds - (self._clock() - self._began)

    def _late(self) -> str:
        return f"budget: {self._caps.seconds:g} seconds have passed"

    def _short(self, worst: float) -> str:
        calls = "1 call" if self._unknown == 1 else f"{self._unknown} calls"
        held = f" or held back for {calls} of unknown cost" if self._unknown else ""
        return (
            f"budget: ${self._spent:.4f} of ${self._caps.cost_usd:g} are spent{held}, "
            f"and the next call may cost ${worst:.4f}"
        )

    def _close(self, reason: str) -> str:
        self._closed = self._closed or reason
        return reason


def priced(endpoint: Endpoint, price_of: PriceOf) -> Prices:
    """Return the prices of a model; without them a cap in dollars would be a promise unkept."""
    prices = price_of(endpoint)
    if prices is None:
        raise CannotConfigure(
            f"{endpoint.model} has no known price, so a cap in dollars cannot hold",
            "give the model input_cost_per_token and output_cost_per_token, or use --max-calls",
        )
    return prices
