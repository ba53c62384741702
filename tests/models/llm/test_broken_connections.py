"""Toxiproxy between the client and a judge: the same marks as without a fault, or an errored case.

Each fault lasts for ever, or ends before the first retry. No call sends more than five requests,
and none takes longer than five timeouts.
"""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import pytest

from rubric_ci.errors import NoVerdict
from rubric_ci.models.llm.client import request
from rubric_ci.models.llm.failures import with_retries
from rubric_ci.parts.litellm.litellm_client import load_litellm
from rubric_ci.system.backoff import Backoff
from rubric_ci.values.results import Assessment
from rubric_ci.values.targets import Endpoint
from tests import toxiproxy
from tests.aimock import Aimock
from tests.bodies import Bodies, Body, answering
from tests.contract.test_judge_faults import SCORE, TEXT, assess
from tests.toxiproxy import Toxic, Toxiproxy

pytestmark = [pytest.mark.skipif(bool(toxiproxy.missing()), reason=toxiproxy.missing() or "-")]

ATTEMPTS = Backoff().attempts
LONG, SHORT, ENOUGH = 20.0, 0.5, 3.0  # seconds; the last for a fault that ends
CLOSED = "the server closed the connection without a reply"
RESET = "the connection failed: Connection reset by peer"
LATE = f"no reply within {SHORT:g} s"
CUT = "the connection ended within the reply"


def toxic(kind: str, stream: str = "downstream", **attributes: int) -> Toxic:
    return {"type": kind, "stream": stream, "attributes": attributes}


@dataclass(frozen=True)
class Fault:
    """A fault and why a call fails while it lasts; empty: the call succeeds all the same."""

    toxic: Toxic | None
    reason: str = ""

    @property
    def is_timeout(self) -> bool:
        return self.reason == LATE


FAULTS = {
    "latency": Fault(toxic("latency", latency=50)),
    "jitter": Fault(toxic("latency", latency=30, jitter=30)),
    "latency of the request": Fault(toxic("latency", "upstream", latency=50)),
    "bandwidth": Fault(toxic("bandwidth", rate=100)),  # KB/s
    "too little bandwidth": Fault(toxic("bandwidth", rate=1), LATE),
    "slow close": Fault(toxic("slow_close", delay=200)),
    "small pieces": Fault(toxic("slicer", average_size=500, size_variation=250, delay=10)),
    "small pieces of the request": Fault(
        toxic("slicer", "upstream", average_size=50, size_variation=25, delay=10)
    ),
    "no data": Fault(toxic("timeout", timeout=0), CLOSED),
    "no data of the request": Fault(toxic("timeout", "upstream", timeout=0), LATE),
    "no data, then closed": Fault(toxic("timeout", timeout=50), CLOSED),
    "reset": Fault(toxic("reset_peer", timeout=0), RESET),
    "later reset": Fault(toxic("reset_peer", timeout=50), RESET),
    "no byte": Fault(toxic("limit_data", bytes=0), CLOSED),
    "a part of the head": Fault(toxic("limit_data", bytes=20), CLOSED),
    "a part of the body": Fault(toxic("limit_data", bytes=5000), CUT),
    "a part of the request": Fault(toxic("limit_data", "upstream", bytes=50), CLOSED),
}
ENDING = [n for n, fault in FAULTS.items() if fault.reason and n != "too little bandwidth"]


@pytest.fixture(scope="module")
def judge() -> Iterator[Bodies]:
    """A judge with a long reply, so that parts of it are on their way when it breaks."""
    message = {"role": "assistant", "content": f"{' ' * 20_000}{TEXT}"}
    body = {
        "model": "gpt-6-luna",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }
    load_litellm()
    with answering(Body(content=json.dumps(body).encode())) as server:
        yield server


@pytest.fixture(scope="module")
def proxy(judge: Bodies) -> Iterator[Toxiproxy]:
    with toxiproxy.running(judge.url) as running:
        for wire in WIRES:  # what is done once, such as imports
            asyncio.run(graded(running, wire, LONG))
        yield running


WIRES = ("direct", "litellm")
NUMBERS = count(1)


async def graded(
    proxy: Toxiproxy, wire: str, seconds: float, *, heal: bool = False, number: int = 0
) -> Assessment | NoVerdict:
    """Grade an answer; with `heal`, the fault ends before the first retry."""
    options: dict[str, Any] = {"n": 1} if wire == "litellm" else {}
    url = f"{proxy.url}/{number}"
    endpoint: Endpoint = Aimock(url).endpoint("openai", timeout_seconds=seconds, **options)

    async def at_once(_: float) -> None:
        if heal:
            await asyncio.to_thread(proxy.set_toxic, None)

    async with asyncio.timeout(ATTEMPTS * seconds + 5):
        return await assess(endpoint, with_retries(request, sleep=at_once))


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_fault_that_lasts(judge: Bodies, proxy: Toxiproxy, fault: Fault, wire: str) -> None:
    proxy.set_toxic(fault.toxic)
    number = next(NUMBERS)
    seconds = SHORT if fault.is_timeout else LONG
    result = asyncio.run(graded(proxy, wire, seconds, number=number))
    if fault.reason:
        assert isinstance(result, NoVerdict)
        assert str(result) == f"openai/gpt-6-luna: {fault.reason} ({ATTEMPTS} requests)"
        # The server may have generated and billed each reply.
        assert (result.usage.calls, result.usage.unpriced_calls) == (ATTEMPTS, ATTEMPTS)
    else:
        assert isinstance(result, Assessment)
        assert (result.score, result.usage.calls, received(judge, number)) == (SCORE, 1, 1)
    assert received(judge, number) <= result.usage.calls


def received(judge: Bodies, number: int) -> int:
    """Return how many requests of a test came, without late ones of the test before."""
    return sum(path.startswith(f"/{number}/") for path in judge.paths)


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    "fault", [fault for name, fault in FAULTS.items() if name in ENDING], ids=ENDING
)
def test_a_fault_that_ends(judge: Bodies, proxy: Toxiproxy, fault: Fault, wire: str) -> None:
    proxy.set_toxic(fault.toxic)
    number = next(NUMBERS)
    seconds = ENOUGH if fault.is_timeout else LONG
    result = asyncio.run(graded(proxy, wire, seconds, heal=True, number=number))
    assert isinstance(result, Assessment)
    assert result.score == SCORE
    assert (result.usage.calls, result.usage.unpriced_calls) == (2, 1)
    assert received(judge, number) <= 2


@pytest.mark.parametrize("wire", WIRES)
def test_a_proxy_that_is_down(judge: Bodies, proxy: Toxiproxy, wire: str) -> None:
    proxy.set_toxic(None, enabled=False)
    number = next(NUMBERS)
    result = asyncio.run(graded(proxy, wire, LONG, number=number))
    assert isinstance(result, NoVerdict)
    host = proxy.url.removeprefix("http://")
    reason = f"cannot connect to {host}: Connection refused ({ATTEMPTS} attempts)"
    assert str(result) == f"openai/gpt-6-luna: {reason}"
    assert (result.usage.unpriced_calls, received(judge, number)) == (0, 0)
