"""The shared limit: requests in flight before, during and after a 429."""

import asyncio

import pytest

from rubric_ci.models.llm.client import RateLimiter
from rubric_ci.models.llm.failures import RequestError
from rubric_ci.values.llm_calls import ModelCall, ModelReply
from rubric_ci.values.targets import Endpoint

CALL = ModelCall(endpoint=Endpoint(model="m"), messages=(), key="k")


class Server:
    """Replies when it is let to; counts who is there at once."""

    def __init__(self) -> None:
        self.there = 0
        self.most = 0
        self.full = 0  # how many more requests get a 429

    async def __call__(self, _: ModelCall) -> ModelReply:
        self.there += 1
        self.most = max(self.most, self.there)
        try:
            await asyncio.sleep(0.001)
        finally:
            self.there -= 1
        if self.full:
            self.full -= 1
            raise RequestError("busy", status=429)
        return ModelReply(text="ok")


async def send(window: RateLimiter, server: Server, count: int) -> list[object]:
    ask = window.wrap(server)
    return list(await asyncio.gather(*(ask(CALL) for _ in range(count)), return_exceptions=True))


def test_no_more_than_its_width_are_under_way() -> None:
    window, server = RateLimiter(4), Server()
    replies = asyncio.run(send(window, server, 30))
    assert replies == [ModelReply(text="ok")] * 30
    assert server.most == 4


def test_a_burst_of_429_narrows_once() -> None:
    async def burst() -> tuple[int, int]:
        window, server = RateLimiter(16), Server()
        server.full = 16
        await send(window, server, 16)
        narrowed, server.most = window.limit, 0
        await send(window, server, 8)
        return narrowed, server.most

    assert asyncio.run(burst()) == (8, 8)


def test_it_never_closes_and_recovers_a_round_at_a_time() -> None:
    async def rounds() -> list[int]:
        window, server = RateLimiter(4), Server()
        for _ in range(5):
            server.full = 1
            await send(window, server, 1)
        widths = [window.limit]
        for _ in range(12):
            await send(window, server, 1)
            widths.append(window.limit)
        return widths

    widths = asyncio.run(rounds())
    assert widths[0] == 1
    assert widths == sorted(widths)
    assert widths[-1] == 4


@pytest.mark.parametrize("status", [500, 408, None, 400])
def test_other_troubles_do_not_narrow(status: int | None) -> None:
    async def trouble(_: ModelCall) -> ModelReply:
        raise RequestError("no", status=status)

    async def sent() -> int:
        window = RateLimiter(4)
        await asyncio.gather(
            *(window.wrap(trouble)(CALL) for _ in range(9)), return_exceptions=True
        )
        return window.limit

    assert asyncio.run(sent()) == 4


def test_who_gives_up_waiting_leaves_no_hole() -> None:
    async def given_up() -> int:
        window, server = RateLimiter(1), Server()
        ask = window.wrap(server)
        tasks = [asyncio.ensure_future(ask(CALL)) for _ in range(3)]
        await asyncio.sleep(0)
        tasks[1].cancel()
        tasks[0].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.wait_for(send(window, server, 3), timeout=60)
        return server.most

    assert asyncio.run(given_up()) == 1
