"""Which calls are sent to a server that fails, how many at a time, and when they stop."""

import asyncio
from collections.abc import Sequence

import pytest

from rubric_ci.errors import CannotReachModel, FailureScope, OverBudget
from rubric_ci.models.llm.client import MOST_FAILURES, CircuitBreaker
from rubric_ci.values.llm_calls import ModelCall, ModelReply
from tests.cases import build_call

OK = ModelReply(text="yes")


def failed(scope: FailureScope) -> CannotReachModel:
    return CannotReachModel(f"m: {scope} failed", scope=scope)


def call(model: str = "m", **options: str) -> ModelCall:
    return build_call(model, options=options)


class Server:
    """Replies with the outcomes in turn, the last one for ever, and counts the calls."""

    def __init__(self, *outcomes: ModelReply | Exception) -> None:
        self._left: Sequence[ModelReply | Exception] = outcomes
        self.calls = 0
        self.in_flight = 0
        self.most_in_flight: list[int] = []

    async def __call__(self, _: ModelCall) -> ModelReply:
        self.calls += 1
        self.in_flight += 1
        outcome, self._left = self._left[0], self._left[1:] or self._left
        for _turn in range(20):
            await asyncio.sleep(0)
        self.most_in_flight.append(self.in_flight)
        self.in_flight -= 1
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


def run(server: Server, *calls: ModelCall) -> tuple[list[str], CircuitBreaker]:
    """Send the calls at the same time; return what each ended with."""
    breaker = CircuitBreaker()
    ask = breaker.wrap(server)

    async def one(each: ModelCall) -> str:
        try:
            return (await ask(each)).text
        except (CannotReachModel, OverBudget) as error:
            return str(error)

    async def together() -> list[str]:
        return list(await asyncio.gather(*map(one, calls)))

    return asyncio.run(together()), breaker


def test_the_first_call_is_sent_alone_and_the_others_together() -> None:
    server = Server(OK)
    ended, breaker = run(server, *[call()] * 5)
    assert ended == ["yes"] * 5
    assert server.most_in_flight == [1, 4, 3, 2, 1]
    assert not breaker.why_closed(call().endpoint)


@pytest.mark.parametrize("scope", ["account", "host"])
def test_a_refused_account_and_an_unreachable_host_are_asked_once(scope: FailureScope) -> None:
    server = Server(failed(scope))
    ended, breaker = run(server, *[call()] * 5)
    assert (ended, server.calls) == ([f"m: {scope} failed"] * 5, 1)
    assert breaker.why_closed(call().endpoint) == f"m: {scope} failed"


def test_a_server_that_is_down_is_asked_a_limited_number_of_times() -> None:
    server = Server(failed("server"))
    ended, _ = run(server, *[call()] * 9)
    last = "m: server failed; not requested again after 5 failures in a row"
    assert ended == ["m: server failed"] * MOST_FAILURES + [last] * 4
    assert server.calls == MOST_FAILURES
    assert set(server.most_in_flight) == {1}


@pytest.mark.parametrize(
    ("outcomes", "calls"),
    [
        pytest.param([failed("request")], 9, id="each-request-for-itself"),
        pytest.param([OverBudget("budget: call limit of 1 reached")], 9, id="budget"),
        pytest.param([*[failed("server")] * 4, OK, *[failed("server")] * 4, OK], 9, id="between"),
        pytest.param([OK, failed("account"), OK], 9, id="account-after-a-success"),
    ],
)
def test_a_server_that_replies(outcomes: list[ModelReply | Exception], calls: int) -> None:
    server = Server(*outcomes)
    _, breaker = run(server, *[call()] * calls)
    assert server.calls == calls
    assert not breaker.why_closed(call().endpoint)


def test_each_model_host_and_key_is_a_server_of_its_own() -> None:
    server = Server(failed("account"))
    others = [call(), call("n"), call(api_base="http://a"), call(api_key="k"), call()]
    run(server, *others)
    assert server.calls == 4


def send_at(
    times: Sequence[float], server: Server, breaker: CircuitBreaker, now: list[float]
) -> list[tuple[int, set[str]]]:
    """Send four calls at each time; return the calls that reached the server, and the outcomes."""
    ask = breaker.wrap(server)

    async def send() -> list[tuple[int, set[str]]]:
        seen = []
        for now[0] in times:
            before = server.calls
            ended = await asyncio.gather(*(ask(call()) for _ in range(4)), return_exceptions=True)
            texts = {each.text if isinstance(each, ModelReply) else str(each) for each in ended}
            seen.append((server.calls - before, texts))
        return seen

    return asyncio.run(send())


DOWN = "m: {} failed; not requested again after {} failures in a row"


def test_a_server_that_is_up_again_is_asked_on_after_a_probe() -> None:
    now = [0.0]
    breaker = CircuitBreaker(2, clock=lambda: now[0])
    server = Server(*[failed("server")] * 3, OK)
    assert send_at((0, 59, 60, 179, 180), server, breaker, now) == [
        (2, {"m: server failed", DOWN.format("server", 2)}),
        (0, {DOWN.format("server", 2)}),
        (1, {"m: server failed", DOWN.format("server", 3)}),  # the probe fails: twice the pause
        (0, {DOWN.format("server", 3)}),
        (4, {"yes"}),
    ]


def test_a_host_that_is_not_there_yet_is_probed() -> None:
    now = [0.0]
    breaker = CircuitBreaker(clock=lambda: now[0])
    server = Server(failed("host"), failed("host"), OK)
    assert send_at((0, 60, 120, 180), server, breaker, now) == [
        (1, {"m: host failed"}),
        (1, {"m: host failed", DOWN.format("host", 2)}),
        (0, {DOWN.format("host", 2)}),
        (4, {"yes"}),
    ]


def test_a_refused_account_is_not_probed() -> None:
    now = [0.0]
    breaker = CircuitBreaker(clock=lambda: now[0])
    server = Server(failed("account"), OK)
    assert send_at((0, 10**9), server, breaker, now) == [
        (1, {"m: account failed"}),
        (0, {"m: account failed"}),
    ]


def test_calls_in_flight_do_not_lengthen_the_pause() -> None:
    now = [0.0]
    breaker = CircuitBreaker(2, clock=lambda: now[0])
    server = Server(OK, *[failed("server")] * 3, OK)
    seen = send_at((0, 0, 60), server, breaker, now)
    assert [calls for calls, _ in seen] == [4, 0, 4]
