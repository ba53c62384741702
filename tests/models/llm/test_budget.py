"""Caps that hold: nothing is sent that might not fit, and the reason is said."""

import asyncio
from contextlib import nullcontext
from dataclasses import replace

import pytest

from rubric_ci.errors import CannotAnswer, CannotConfigure, OverBudget
from rubric_ci.models.llm.budget import Budget, Caps
from rubric_ci.models.llm.failures import RequestError
from rubric_ci.models.llm.model_info import Prices
from rubric_ci.values.context import StartPrice
from rubric_ci.values.llm_calls import ModelCall, ModelReply
from rubric_ci.values.results import Answer
from rubric_ci.values.targets import Endpoint
from rubric_ci.values.usage import Usage
from tests.cases import build_call

CALL = build_call("m", "?" * 1000, max_tokens=1000)
# 1,000 bytes, 1,000 for what goes around them, "null": $2.004 to read; $2 to write.
PRICES = Prices(input=0.001, output=0.002)
WORST = 4.004


class Server:
    """Charges the given cost."""

    def __init__(self, cost: float = 1.0, seconds: float = 0.0) -> None:
        self.cost = cost
        self.seconds = seconds
        self.sent = 0
        self.charged = 0.0

    async def __call__(self, _: ModelCall) -> ModelReply:
        self.sent += 1
        await asyncio.sleep(self.seconds)
        self.charged += self.cost
        return ModelReply(text="ok", usage=Usage(calls=1, cost_usd=self.cost))


def send(server: Server, caps: Caps, count: int, prices: Prices | None = PRICES) -> list[object]:
    async def all_at_once() -> list[object]:
        ask = Budget(caps, lambda _: prices).wrap(server)
        asked = (ask(CALL) for _ in range(count))
        async with asyncio.timeout(60):  # what waits for a call that has ended does so for ever
            return list(await asyncio.gather(*asked, return_exceptions=True))

    return asyncio.run(all_at_once())


def reasons(results: list[object]) -> set[str]:
    assert all(isinstance(r, ModelReply | OverBudget) for r in results)
    return {str(r) for r in results if isinstance(r, OverBudget)}


def test_a_negative_cost_gives_nothing_back() -> None:
    server = Server(cost=-100.0)
    assert len(reasons(send(server, Caps(cost_usd=9), 20))) == 1
    assert server.sent == 2  # each counts with its maximum, as a cost that is not known


def test_without_caps_everything_is_sent() -> None:
    server = Server()
    assert reasons(send(server, Caps(), 20, prices=None)) == set()
    assert server.sent == 20


@pytest.mark.parametrize("limit", [3, 0])
def test_calls(limit: int) -> None:
    server = Server()
    reached = f"budget: call limit of {limit} reached"
    assert reasons(send(server, Caps(calls=limit), 20)) == {reached}
    assert server.sent == limit


@pytest.mark.parametrize("cap", [4.5, 5.0, 9.0, 13.7, 20.0])
@pytest.mark.parametrize("cost", [0.25, 1.0, WORST])
def test_the_cost_never_passes_its_cap(cap: float, cost: float) -> None:
    server = Server(cost=cost, seconds=0.001)
    assert len(reasons(send(server, Caps(cost_usd=cap), 100))) == 1
    assert server.charged <= cap
    # What is left is less than the worst that one more call may cost.
    assert server.charged + WORST > cap


@pytest.mark.parametrize(("longest", "worst"), [(2003, 8.008), (2004, WORST), (2005, WORST)])
def test_a_longer_prompt_may_have_other_prices(longest: int, worst: float) -> None:
    dear = Prices(input=0.002, output=0.004)
    prices = replace(PRICES, above=((longest, dear),))
    assert prices.worst(CALL) == pytest.approx(worst)
    cheap = replace(dear, above=((longest, PRICES),))
    assert cheap.worst(CALL) == pytest.approx(8.008)


@pytest.mark.parametrize("cap", [0.3, 0.35])
def test_three_tenths_fit_and_the_fourth_does_not_wait_for_ever(cap: float) -> None:
    server, prices = Server(cost=0.1), replace(PRICES, input=0.0, output=0.1 / 1000)
    results = send(server, Caps(cost_usd=cap), 4, prices)
    assert [isinstance(each, OverBudget) for each in results] == [False, False, False, True]


def test_a_call_that_may_cost_all_that_is_left_is_sent() -> None:
    server = Server()
    assert reasons(send(server, Caps(cost_usd=4004), 1, Prices(input=1, output=2))) == set()
    assert server.sent == 1


def test_a_call_waits_for_the_cost_of_the_one_in_flight() -> None:
    server = Server(cost=0.05, seconds=0.001)
    cheap = Prices(input=0.0001, output=0.0002)  # $0.4004 at most
    assert reasons(send(server, Caps(cost_usd=0.5), 2, cheap)) == set()
    assert server.sent == 2


def test_the_reason_says_what_was_spent() -> None:
    assert reasons(send(Server(), Caps(cost_usd=5.5), 9)) == {
        (
            "budget: $2.0000 of $5.5 spent; the next call may cost $4.0040; increase the limit, "
            "or set `max_tokens` of m below 1,000"
        )
    }


def test_once_reached_even_a_small_call_is_refused() -> None:
    small = replace(CALL, messages=(), max_tokens=1)

    async def asked() -> None:
        ask = Budget(Caps(cost_usd=2), lambda _: PRICES).wrap(Server())
        for call in (CALL, small):
            with pytest.raises(OverBudget, match=r"the next call may cost \$4\.0040"):
                await ask(call)

    asyncio.run(asked())


def test_a_reply_of_unknown_cost_counts_as_its_worst() -> None:
    async def uncounted(_: ModelCall) -> ModelReply:
        return ModelReply(text="ok", usage=Usage(calls=1, unpriced_calls=1))

    async def asked() -> None:
        ask = Budget(Caps(cost_usd=9), lambda _: PRICES).wrap(uncounted)
        await ask(CALL)
        await ask(CALL)
        held = r"\$8\.0080 of \$9 spent or reserved for 2 calls of unknown cost; the next"
        with pytest.raises(OverBudget, match=held):
            await ask(CALL)

    asyncio.run(asked())


@pytest.mark.parametrize(
    ("status", "spent"),
    [(429, "0.0000"), (500, "0.0000"), (408, "4.0040"), (504, "4.0040"), (None, "4.0040")],
)
def test_an_error_costs_nothing_but_a_lost_reply_may(status: int | None, spent: str) -> None:
    async def failing(_: ModelCall) -> ModelReply:
        raise RequestError("no", status=status)

    async def asked() -> None:
        budget = Budget(Caps(cost_usd=5), lambda _: PRICES)
        with pytest.raises(RequestError):
            await budget.wrap(failing)(CALL)
        large = replace(CALL, max_tokens=9000)
        with pytest.raises(OverBudget, match=rf"\${spent} of \$5 spent"):
            await budget.wrap(Server())(large)

    asyncio.run(asked())


def test_an_unpriced_model_cannot_have_a_cap_in_dollars() -> None:
    (error,) = send(Server(), Caps(cost_usd=1), 1, prices=None)
    assert isinstance(error, CannotConfigure)
    assert error.message == "m has no known price, so a maximum cost cannot be enforced"
    assert "input_cost_per_token" in error.hint


def test_time_cuts_what_is_under_way_and_refuses_the_rest() -> None:
    async def asked() -> None:
        ask = Budget(Caps(seconds=0.05), lambda _: None).wrap(Server(seconds=60))
        with pytest.raises(OverBudget, match=r"budget: time limit of 0\.05 s reached") as ended:
            await ask(CALL)
        assert ended.value.usage == Usage(calls=1, unpriced_calls=1)
        with pytest.raises(OverBudget, match=r"budget: time limit of 0\.05 s reached") as ended:
            await ask(CALL)
        assert ended.value.usage == Usage()

    asyncio.run(asyncio.wait_for(asked(), timeout=60))


class Clock:
    """Shows the seconds that it is set to; sleeping is noted, and takes no time."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


@pytest.mark.parametrize(
    ("limit", "passed", "slept"),
    [
        pytest.param(None, 50, 3, id="no limit"),
        pytest.param(10, 4, 3, id="enough time is left"),
        pytest.param(10, 8, 2, id="less time is left"),
        pytest.param(10, 12, 0, id="no time is left"),
    ],
)
def test_a_wait_ends_at_the_time_limit(limit: float | None, passed: float, slept: float) -> None:
    clock = Clock()
    budget = Budget(Caps(seconds=limit), lambda _: None, clock, clock.sleep)
    clock.now += passed
    asyncio.run(budget.sleep(3))
    assert clock.slept == [slept]


@pytest.mark.parametrize(("passed", "sent"), [(9.0, 1), (10.0, 0), (11.0, 0)])
def test_nothing_is_sent_after_the_time_limit(passed: float, sent: int) -> None:
    clock, server = Clock(), Server()

    async def asked() -> None:
        ask = Budget(Caps(seconds=10), lambda _: None, clock).wrap(server)
        clock.now += passed
        await ask(CALL)

    late = pytest.raises(OverBudget, match="budget: time limit of 10 s reached")
    with nullcontext() if sent else late:
        asyncio.run(asked())
    assert server.sent == sent


def test_without_a_limit_a_reply_is_as_long_as_the_model_can() -> None:
    prices = Prices(input=0, output=1, most_output_tokens=7)
    bare = replace(CALL, max_tokens=None)
    assert prices.worst(bare) == 7
    assert Prices(input=0, output=1).worst(bare) == 128_000  # the model's limit is unknown
    limited = replace(bare, endpoint=Endpoint(model="m", options={"max_tokens": 5}))
    assert prices.worst(limited) == 5
    assert prices.worst(CALL) == 1000


@pytest.mark.parametrize(
    ("caps", "options", "most", "sent"),
    [
        pytest.param(Caps(), {}, 128_000, None, id="without a cap on cost"),
        pytest.param(Caps(cost_usd=99), {}, 128_000, 16_384, id="not the model's own limit"),
        pytest.param(Caps(cost_usd=99), {}, 4_000, 4_000, id="at most the model's own limit"),
        pytest.param(Caps(cost_usd=99), {"max_tokens": 9}, 4_000, None, id="configured"),
        pytest.param(Caps(cost_usd=99), {"max_completion_tokens": 9}, 4_000, None, id="new name"),
    ],
)
def test_a_cap_on_cost(caps: Caps, options: dict[str, int], most: int, sent: int | None) -> None:
    seen: list[int | None] = []

    async def answered(call: ModelCall) -> ModelReply:
        seen.append(call.max_tokens)
        return ModelReply(text="ok")

    prices = Prices(input=0.001, output=0.001, most_output_tokens=most)
    call = replace(CALL, endpoint=Endpoint(model="m", options=options), max_tokens=None)

    async def asked() -> None:
        await Budget(caps, lambda _: prices).wrap(answered)(call)

    asyncio.run(asked())
    assert seen == [sent]


ANSWERED = Usage(calls=1, input_tokens=3, cost_usd=0.5)
CUT = Usage(calls=1, unpriced_calls=1)


@pytest.mark.parametrize(
    ("outcome", "used"),
    [
        pytest.param(ModelReply(text="", usage=ANSWERED), ANSWERED, id="a reply"),
        pytest.param(RequestError("refused", status=400), Usage(calls=1), id="refused"),
        pytest.param(RequestError("lost"), CUT, id="no reply, which may cost"),
        pytest.param(RequestError("no key", billed=False, reached=False), Usage(), id="never sent"),
        pytest.param(asyncio.CancelledError(), CUT, id="interrupted"),
    ],
)
def test_what_requests_used(outcome: ModelReply | BaseException, used: Usage) -> None:
    async def request(_: ModelCall) -> ModelReply:
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    async def twice() -> Usage:
        budget = Budget(Caps(), lambda _: PRICES)
        ask = budget.wrap(request)
        await asyncio.gather(ask(CALL), ask(CALL), return_exceptions=True)
        return budget.used()

    assert asyncio.run(twice()) == used + used


@pytest.mark.parametrize(
    ("counts", "outcome", "used"),
    [
        (True, Answer(text="", usage=ANSWERED), ANSWERED),
        (True, CannotAnswer("", ANSWERED), ANSWERED),
        (True, asyncio.CancelledError(), CUT),
        (False, Answer(text="", usage=ANSWERED), ANSWERED),
        (False, asyncio.CancelledError(), Usage()),
    ],
    ids=["known", "failed", "interrupted", "no call, with a figure of its own", "no call"],
)
def test_what_starts_used(counts: bool, outcome: Answer | BaseException, used: Usage) -> None:
    async def start(_: float | None) -> Answer:
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    async def started() -> Usage:
        budget = Budget(Caps(), lambda _: PRICES)
        price = StartPrice(target="t", counts=counts)
        await asyncio.gather(budget.start(price, start), return_exceptions=True)
        return budget.used()

    assert asyncio.run(started()) == used
