"""Concurrent coroutines: results in order, stopped early, and ended by the first error."""

import asyncio
import os
import signal
from typing import Any

import pytest

from rubric_ci.system import coroutines
from tests import platforms


async def after(seconds: float, value: int) -> int:
    await asyncio.sleep(seconds)
    return value


async def fail() -> int:
    raise ZeroDivisionError


def test_results_come_in_the_order_of_the_works() -> None:
    assert asyncio.run(coroutines.gather_until_cancelled([after(0.02, 1), after(0, 2)])) == (1, 2)


def test_when_stopped_what_had_ended_is_returned() -> None:
    async def stopped() -> tuple[int, ...]:
        works = [after(0, 1), after(60, 2), after(0, 3)]
        all_of_them = asyncio.create_task(coroutines.gather_until_cancelled(works))
        await asyncio.sleep(0.1)
        all_of_them.cancel()
        return await all_of_them

    assert asyncio.run(stopped()) == (1, 3)


def test_what_one_raises_stops_the_others() -> None:
    async def failed() -> set["asyncio.Task[object]"]:
        with pytest.raises(ZeroDivisionError):
            await coroutines.gather_until_cancelled([after(60, 1), fail()])
        return asyncio.all_tasks() - {asyncio.current_task()}

    assert asyncio.run(failed()) == set()


async def cleaning(log: list[str], name: str, seconds: float) -> None:
    try:
        await asyncio.sleep(50)
    finally:
        await asyncio.sleep(seconds)
        log.append(name)


async def fail_soon() -> None:
    await asyncio.sleep(0)
    raise ZeroDivisionError


@pytest.mark.parametrize(
    "way", [coroutines.gather_until_cancelled, coroutines.gather_all], ids=["ended", "everything"]
)
def test_a_failure_is_raised_when_all_have_cleaned_up(way: Any) -> None:
    log: list[str] = []
    with pytest.raises(ZeroDivisionError):
        asyncio.run(way([cleaning(log, "slow", 0.1), fail_soon()]))
    assert log == ["slow"]


def test_everything_is_cancelled_when_all_have_cleaned_up() -> None:
    async def cancelled(log: list[str]) -> list[str]:
        works = [cleaning(log, "quick", 0.0), cleaning(log, "slow", 0.2)]
        task = asyncio.create_task(coroutines.gather_all(works))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return log

    assert asyncio.run(cancelled([])) == ["quick", "slow"]


def test_what_had_ended_is_returned_when_all_have_cleaned_up() -> None:
    async def stopped(log: list[str]) -> list[str]:
        works = [cleaning(log, "quick", 0.0), cleaning(log, "slow", 0.2)]
        task = asyncio.create_task(coroutines.gather_until_cancelled(works))
        await asyncio.sleep(0.01)
        task.cancel()
        assert await task == ()
        return log

    assert asyncio.run(stopped([])) == ["quick", "slow"]


def test_everything_comes_in_the_order_of_the_works() -> None:
    assert asyncio.run(coroutines.gather_all([after(0.02, 1), after(0, 2)])) == (1, 2)


class Large:
    """A result that takes long to describe, as those of ten thousand cases do."""

    described = 0

    def __repr__(self) -> str:
        self.described += 1
        return ""


def test_a_run_does_not_describe_its_result() -> None:
    async def work() -> Large:
        return Large()

    assert coroutines.run(work()).described == 0


@platforms.SIGNALS
def test_ctrl_break_ends_a_run_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A closed console sends it; here another signal stands for it."""
    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setattr(signal, "SIGBREAK", signal.SIGUSR1, raising=False)
    before = signal.getsignal(signal.SIGUSR1)

    async def works() -> str:
        asyncio.get_running_loop().call_later(0.05, os.kill, os.getpid(), signal.SIGUSR1)
        try:
            await coroutines.run_until_terminated(asyncio.sleep(60))
        except asyncio.CancelledError:
            return "ended"
        return "slept"

    try:
        assert asyncio.run(works()) == "ended"
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_shared_work_ends_before_all_other_tasks() -> None:
    ended = []

    async def wait(name: str) -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(name)

    async def work() -> None:
        tasks = [asyncio.create_task(wait("inner")), coroutines.start_shared(wait("shared"))]
        await asyncio.wait(tasks, timeout=0)

    coroutines.run(work())
    assert ended == ["shared", "inner"]
