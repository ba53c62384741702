"""Who waits for whom where answers travel together."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from rubric_ci.grading.concurrency import ConcurrencyLimits
from rubric_ci.model.config import CliTarget, Endpoint, LlmTarget, Target

pytestmark = pytest.mark.timeout(30)

MODEL = LlmTarget(name="model", endpoint=Endpoint(model="openai/m"), concurrency=1)
COMMAND = CliTarget(name="command", command_template="true", concurrency=1)


async def most_at_once(target: Target, answers: int | None) -> int:
    limits = ConcurrencyLimits([target] * 5, 2, answers=answers)
    now = most = 0

    async def one() -> None:
        nonlocal now, most
        async with AsyncExitStack() as place:
            async with limits.target_slot(target):
                await place.enter_async_context(limits.case_slot(target))
                now += 1
                most = max(most, now)
                await asyncio.sleep(0.01)
                now -= 1
            await limits.release_case_slot(place)
            await limits.wait_for_all_answers()

    await asyncio.gather(*(one() for _ in range(5)))
    return most


@pytest.mark.parametrize(
    ("target", "answers", "most"),
    [(MODEL, None, 1), (COMMAND, None, 1), (MODEL, 5, 5), (COMMAND, 5, 1)],
    ids=["a model", "a command", "a model, together", "a command, together"],
)
def test_windows_hold_for_what_runs_here(target: Target, answers: int | None, most: int) -> None:
    assert asyncio.run(most_at_once(target, answers)) == most


def test_nobody_goes_on_before_the_last_answer() -> None:
    async def gone_on(arriving: int) -> int:
        limits = ConcurrencyLimits([COMMAND] * 3, 1, answers=3)
        for _ in range(arriving):
            await limits.release_case_slot(AsyncExitStack())
        waiting = [asyncio.create_task(limits.wait_for_all_answers()) for _ in range(arriving)]
        done, rest = await asyncio.wait(waiting, timeout=0.05)
        for task in rest:
            task.cancel()
        return len(done)

    assert asyncio.run(gone_on(2)) == 0
    assert asyncio.run(gone_on(3)) == 3
