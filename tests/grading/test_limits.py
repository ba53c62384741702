"""Limits of live and of batched runs, and the batch barrier."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from rubric_ci.grading.limits import ConcurrencyLimits
from rubric_ci.values.targets import CliTarget, Endpoint, LlmTarget, Target

MODEL = LlmTarget(name="model", endpoint=Endpoint(model="openai/m"), concurrency=1)
COMMAND = CliTarget(name="command", command_template="true", concurrency=1)


async def most_at_once(target: Target, answers: int | None) -> int:
    limits = ConcurrencyLimits([target] * 5, 2, batched_answers=answers)
    now = most = 0

    async def one() -> None:
        nonlocal now, most
        async with AsyncExitStack() as held:
            async with limits.target_slot(target):
                await held.enter_async_context(limits.case_slot(target))
                now += 1
                most = max(most, now)
                await asyncio.sleep(0.01)
                now -= 1
            await limits.release_case_slot(held)
            await limits.wait_for_all_answers()

    await asyncio.gather(*(one() for _ in range(5)))
    return most


@pytest.mark.parametrize(
    ("target", "answers", "most"),
    [(MODEL, None, 1), (COMMAND, None, 1), (MODEL, 5, 5), (COMMAND, 5, 1)],
    ids=["a model", "a command", "a model in batches", "a command in a batched run"],
)
def test_most_at_once(target: Target, answers: int | None, most: int) -> None:
    assert asyncio.run(most_at_once(target, answers)) == most


def test_no_case_is_assessed_before_the_last_answer() -> None:
    async def assessed(answered: int) -> int:
        limits = ConcurrencyLimits([COMMAND] * 3, 1, batched_answers=3)
        for _ in range(answered):
            await limits.release_case_slot(AsyncExitStack())
        waiting = [asyncio.create_task(limits.wait_for_all_answers()) for _ in range(answered)]
        done, rest = await asyncio.wait(waiting, timeout=0.05)
        for task in rest:
            task.cancel()
        return len(done)

    assert asyncio.run(assessed(2)) == 0
    assert asyncio.run(assessed(3)) == 3
