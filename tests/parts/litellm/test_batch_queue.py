"""Calls that wait for each other and travel together."""

import asyncio
from collections.abc import Sequence

import pytest

from rubric_ci.models.llm.failures import RequestError
from rubric_ci.parts.litellm.batch import in_batches
from rubric_ci.values.llm_calls import ModelCall, ModelReply
from rubric_ci.values.targets import Endpoint

QUIET = 0.05


def call(key: str) -> ModelCall:
    return ModelCall(endpoint=Endpoint(model="openai/m"), messages=(), key=key)


class Post:
    """Sends batches: echoes keys, and has trouble with those that say so."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []

    async def send(self, calls: Sequence[ModelCall]) -> list[ModelReply | RequestError]:
        self.batches.append([call.key for call in calls])
        await asyncio.sleep(0)
        if any(call.key == "down" for call in calls):
            raise RequestError("no connection")
        if any(call.key == "bug" for call in calls):
            raise LookupError("a bug")
        return [RequestError("lost") if c.key == "lost" else ModelReply(text=c.key) for c in calls]


async def answered(post: Post, *keys: str) -> list[str]:
    ask = in_batches(post.send, quiet=QUIET)
    replies = await asyncio.gather(*(ask(call(key)) for key in keys), return_exceptions=True)
    return [
        reply.text if isinstance(reply, ModelReply) else f"{type(reply).__name__}: {reply}"
        for reply in replies
    ]


@pytest.mark.parametrize(
    ("keys", "replies"),
    [
        (["a", "b", "c"], ["a", "b", "c"]),
        (["a", "lost"], ["a", "RequestError: lost"]),
        (["a", "down"], ["RequestError: no connection", "RequestError: no connection"]),
        (["a", "bug"], ["LookupError: a bug", "LookupError: a bug"]),
    ],
    ids=["in order", "one is lost", "the server is away", "no caller waits for ever"],
)
def test_calls_at_once_are_one_batch(keys: list[str], replies: list[str]) -> None:
    post = Post()
    assert asyncio.run(answered(post, *keys)) == replies
    assert post.batches == [keys]


def test_a_call_that_comes_before_it_is_quiet_travels_along() -> None:
    post = Post()

    async def late() -> None:
        ask = in_batches(post.send, quiet=1)
        first = asyncio.ensure_future(ask(call("a")))
        await asyncio.sleep(0.1)
        second = asyncio.ensure_future(ask(call("b")))
        await asyncio.gather(first, second)
        await ask(call("c"))

    asyncio.run(late())
    assert post.batches == [["a", "b"], ["c"]]


def test_who_stops_waiting_does_not_stop_the_others() -> None:
    post = Post()

    async def leaving() -> ModelReply:
        ask = in_batches(post.send, quiet=QUIET)
        gone = asyncio.ensure_future(ask(call("a")))
        stays = asyncio.ensure_future(ask(call("b")))
        await asyncio.sleep(0)
        gone.cancel()
        return await stays

    assert asyncio.run(leaving()).text == "b"
