"""Many things at once: in order, stopped early, and ended by what one of them raises."""

import asyncio

import pytest

from rubric_ci import together


async def after(seconds: float, value: int) -> int:
    await asyncio.sleep(seconds)
    return value


async def fail() -> int:
    raise ZeroDivisionError


def test_results_come_in_the_order_of_the_works() -> None:
    assert asyncio.run(together.ended([after(0.02, 1), after(0, 2)])) == (1, 2)


def test_when_stopped_what_had_ended_is_returned() -> None:
    async def stopped() -> tuple[int, ...]:
        works = [after(0, 1), after(60, 2), after(0, 3)]
        all_of_them = asyncio.create_task(together.ended(works))
        await asyncio.sleep(0.1)
        all_of_them.cancel()
        return await all_of_them

    assert asyncio.run(stopped()) == (1, 3)


def test_what_one_raises_stops_the_others() -> None:
    async def failed() -> set["asyncio.Task[object]"]:
        with pytest.raises(ZeroDivisionError):
            await together.ended([after(60, 1), fail()])
        return asyncio.all_tasks() - {asyncio.current_task()}

    assert asyncio.run(failed()) == set()
