"""Hard caps on calls, cost and time, for model requests and for programs that cost money.

Each reserves its maximum cost before it is sent or started.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from math import fsum
from time import monotonic
from typing import Final, TypeAlias

from rubric_ci.errors import CannotConfigure, NoVerdict, OverBudget
from rubric_ci.models.llm.failures import RequestError
from rubric_ci.models.llm.model_info import Prices, longest_reply
from rubric_ci.values.context import Start, StartPrice
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.llm_calls import AddNote, ModelCall, ModelCaller, ModelReply
from rubric_ci.values.results import Answer
from rubric_ci.values.targets import Endpoint
from rubric_ci.values.usage import DECIMALS, NOTHING_USED, Usage

LEAST_START = 0.01  # dollars, below which no program is started that gets what is left
_CUT = Usage(calls=1, unpriced_calls=1)  # maybe sent, and its end was not awaited
CUT_NOTE: Final = (
    "A request that was cancelled under way may have reached its server: it counts as sent, at an "
    "unknown cost."
)
_ROUNDED = 1 - 1e-9  # so that what is left, added to what is spent, is within the cap
CAPPED_OUTPUT = 16_384  # tokens of a reply under a cap on cost, unless `max_tokens` is set


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """Limits of a run's model requests and starts of programs; None: no limit."""

    calls: int | None = None
    cost_usd: float | None = None
    seconds: float | None = None


PriceOf: TypeAlias = Callable[[Endpoint], Prices | None]


class Budget:
    """Sends requests and starts programs while all together are certain to stay within the caps."""

    def __init__(
        self,
        caps: Caps,
        price_of: PriceOf,
        clock: Callable[[], float] = monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        *,
        add_note: AddNote = lambda _: None,
    ) -> None:
        self._add_note = add_note
        self._caps = caps
        self._price_of = price_of
        self._clock = clock
        self._sleep = sleep
        self._began = clock()
        self._calls = 0
        self._spent = 0.0
        self._held: list[float] = []  # the maximum cost of each call that is under way
        self._unknown = 0  # calls of unknown cost, counted at their maximum
        self._used = NOTHING_USED
        self._closed = ""  # why no further request is sent
        self._changed = asyncio.Condition()

    def wrap(self, request: ModelCaller) -> ModelCaller:
        """Return the request, sent if it fits the caps; raises OverBudget if it does not."""

        async def ask(call: ModelCall) -> ModelReply:
            call, worst = await self._reserve(call)
            used = _CUT
            try:
                async with asyncio.timeout(self._seconds_left()) as limit:
                    reply = await request(call)
            except TimeoutError as error:
                if limit.expired():
                    raise OverBudget(self._close(self._time_is_up()), _CUT) from error
                raise
            except RequestError as error:
                used = error.usage
                raise
            except asyncio.CancelledError:
                self._add_note(CUT_NOTE)
                raise
            else:
                used = reply.usage
                return reply
            finally:
                await self._release(worst, used)

        return ask

    async def start(self, price: StartPrice, start: Start) -> Answer:
        """Start a program if it fits the caps; raises OverBudget if it does not.

        A program that obeys a limit, and has no known cost, gets all that is left.
        """
        worst = await self._reserve_start(price)
        used = _CUT if price.counts else NOTHING_USED
        try:
            given = await start(None if self._caps.cost_usd is None or not price.counts else worst)
        except NoVerdict as error:
            used = error.usage
            raise
        else:
            used = given.usage
            return given
        finally:
            await self._release(worst, used)

    async def _reserve_start(self, price: StartPrice) -> float:
        """Return the maximum cost of a start, which is reserved; what does not count is free."""
        if not price.counts:
            self._held.append(0.0)
            return 0.0
        if self._caps.cost_usd is not None:
            check_start(price)
        async with self._changed:
            while True:
                worst = 0.0
                if self._caps.cost_usd is not None:
                    left = max(LEAST_START, (self._caps.cost_usd - self._spent) * _ROUNDED)
                    worst = left if price.most is None else price.most
                if (price.most is not None or not self._reserved) and self._fits(
                    worst, f"increase the limit, or start `{price.target}` less often"
                ):
                    self._calls += 1
                    self._held.append(worst)
                    return worst
                await self._changed.wait()

    async def sleep(self, seconds: float) -> None:
        """Sleep before a request is repeated, until the time limit at most."""
        left = self._seconds_left()
        await self._sleep(seconds if left is None else max(0.0, min(seconds, left)))

    async def _reserve(self, call: ModelCall) -> tuple[ModelCall, float]:
        """Return the call as it is sent, and its maximum cost, which is reserved."""
        call, worst = self._limited(call)
        model, most = call.endpoint.model, longest_reply(call)
        advice = f"increase the limit, or set `max_tokens` of {model} below {most:,}"
        async with self._changed:
            while not self._fits(worst, advice):
                # Requests in flight are likely to cost less than was reserved for them.
                await self._changed.wait()
            self._calls += 1
            self._held.append(worst)
        return call, worst

    def _fits(self, worst: float, advice: str) -> bool:
        if self._closed:
            raise OverBudget(self._closed)
        if (left := self._seconds_left()) is not None and left <= 0:
            raise OverBudget(self._close(self._time_is_up()))
        if self._caps.calls is not None and self._calls >= self._caps.calls:
            raise OverBudget(self._close(f"budget: call limit of {self._caps.calls} reached"))
        total = round(self._spent + self._reserved + worst, DECIMALS)
        if self._caps.cost_usd is None or total <= self._caps.cost_usd:
            return True
        if self._reserved > 0:
            return False
        calls = "1 call" if self._unknown == 1 else f"{self._unknown} calls"
        held = f" or reserved for {calls} of unknown cost" if self._unknown else ""
        raise OverBudget(
            self._close(
                f"budget: ${self._spent:.4f} of ${self._caps.cost_usd:g} spent{held}; "
                f"the next call may cost ${worst:.4f}; {advice}"
            )
        )

    @property
    def _reserved(self) -> float:
        """The maximum cost of what is under way: nothing at all once it has ended."""
        return fsum(self._held)

    def used(self) -> Usage:
        """Return the use of all requests and starts so far, failed and cut ones included."""
        return self._used

    async def _release(self, worst: float, used: Usage) -> None:
        """Release the reserved cost that was not spent; for a call of unknown cost, none of it."""
        cost = None if used.unpriced_calls or not used.cost_usd >= 0 else used.cost_usd
        self._used += used  # before any wait, which an interruption may cut
        async with self._changed:
            self._held.remove(worst)
            self._spent += worst if cost is None else cost
            self._unknown += cost is None
            self._changed.notify_all()

    def _limited(self, call: ModelCall) -> tuple[ModelCall, float]:
        """Return the call with a limit of its reply, and its maximum cost.

        A model's own limit is so high that hardly any call would fit.
        """
        if self._caps.cost_usd is None:
            return call, 0.0
        prices = priced(call.endpoint, self._price_of)
        if not longest_reply(call):
            call = replace(call, max_tokens=min(CAPPED_OUTPUT, prices.most_output_tokens))
        return call, prices.worst(call)

    def _seconds_left(self) -> float | None:
        if self._caps.seconds is None:
            return None
        return self._caps.seconds - (self._clock() - self._began)

    def _time_is_up(self) -> str:
        return f"budget: time limit of {self._caps.seconds:g} s reached"

    def _close(self, reason: str) -> str:
        self._closed = self._closed or reason
        return reason


def priced(endpoint: Endpoint, price_of: PriceOf, name: str = "") -> Prices:
    """Return the prices of a model; raises CannotConfigure if they are unknown.

    Without prices, a maximum cost could not be enforced. `name` is what it is in the run.
    """
    prices = price_of(endpoint)
    if prices is None:
        prices_of_it = "set input_cost_per_token and output_cost_per_token of the model, or "
        raise CannotConfigure(
            f"{name or endpoint.model} has no known price, so a maximum cost cannot be enforced",
            f"{'' if endpoint.command else prices_of_it}use --max-calls",
        )
    return prices


def check_start(price: StartPrice) -> None:
    """Raise CannotConfigure for a program whose cost has no limit that could be enforced."""
    if price.most is None and not price.obeys:
        raise CannotConfigure(
            f"a start of the target `{price.target}` has no known price, so a maximum cost cannot "
            "be enforced",
            "set `cost_per_run` of the target, on a pull request in the base branch first, or use "
            "--max-calls",
        )
