"""Coroutines: run concurrently, in a thread for a large text, and until a signal ends them.

All are cancelled and awaited if one fails.

NOTE: a cancelled `asyncio.gather` returns when the first of its tasks ends. The others are still
cleaning up then, and a second cancellation would interrupt that. A task group cancels each task
once and waits for all.
"""

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from concurrent.futures import Future
from contextlib import suppress
from threading import Event, Thread, current_thread, main_thread
from typing import Any, Final, ParamSpec, TypeVar

T = TypeVar("T")
P = ParamSpec("P")
_SHARED: Final = "shared"  # name of a task
LARGE: Final = 20_000  # characters; the scan of fewer takes at most about 30 ms


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine and return its result.

    NOTE: when `asyncio.run` restores the handler of Ctrl-C, `signal.signal` writes the `repr` of
    its task, and so of the task's result, into an error that is not shown.
    """
    results: list[T] = []

    async def keep() -> None:
        try:
            results.append(await work)
        finally:
            await _end_shared()

    asyncio.run(keep())
    return results[0]


def start_shared(work: Coroutine[Any, Any, T]) -> "asyncio.Task[T]":
    """Start work that several callers await, each with a shield; `run` ends it.

    NOTE: `asyncio.run` would cancel it together with the inner tasks of a process that it is
    starting, and would then wait for all that this process started.
    """
    return asyncio.create_task(work, name=_SHARED)


async def _end_shared() -> None:
    """Cancel the shared work that is left, and wait for its end."""
    left = [task for task in asyncio.all_tasks() if task.get_name() == _SHARED]
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)


class BackgroundLoop:
    """An event loop in a separate thread, for callers with and without their own loop."""

    def __init__(self) -> None:
        self._ready, self._end = Event(), asyncio.Event()
        self._thread = Thread(target=lambda: run(self._serve()), name="rubric-ci", daemon=True)
        self._thread.start()
        self._ready.wait()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._ready.set()
        await self._end.wait()

    def start(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine and return its result; Ctrl-C cancels it."""
        future = self.start(work)
        try:
            return future.result()
        finally:
            future.cancel()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join()


async def gather_until_cancelled(works: Iterable[Coroutine[Any, Any, T]]) -> tuple[T, ...]:
    """Return the results in the order of the works; an error cancels all and is raised.

    If this is cancelled (Ctrl-C), all works are cancelled and the results so far are returned;
    they are fewer than the works.
    """
    running: list[asyncio.Task[T]] = []
    with suppress(asyncio.CancelledError):
        await _run(works, running)
    return tuple(task.result() for task in running if not task.cancelled())


async def gather_all(works: Iterable[Coroutine[Any, Any, T]]) -> tuple[T, ...]:
    """Return all results in the order of the works; an error cancels all and is raised."""
    given = list(works)
    if len(given) == 1:  # no task, and no turn of the event loop: most cases need no more
        return (await given[0],)
    running: list[asyncio.Task[T]] = []
    await _run(given, running)
    return tuple(task.result() for task in running)


async def _run(works: Iterable[Coroutine[Any, Any, T]], running: "list[asyncio.Task[T]]") -> None:
    try:
        async with asyncio.TaskGroup() as group:
            running.extend(group.create_task(work) for work in works)
    except BaseExceptionGroup as failed:
        # The first error cancelled the others; a caller has an `except` for it, not for a group.
        raise failed.exceptions[0] from None


async def worked_on(size: int, work: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
    """Return the result of the work: in a thread for a text of many characters, else at once."""
    if size < LARGE:
        return work(*given, **named)
    return await asyncio.to_thread(work, *given, **named)


async def run_until_terminated(work: Awaitable[T]) -> T:
    """Await the work; a signal cancels this task.

    A cancelled CI job sends SIGTERM, a terminal that is closed SIGHUP, which `nohup` ignores.
    Windows has SIGBREAK for both: Ctrl-Break, a closed console and a service that stops.
    """
    this = asyncio.current_task()
    if this and sys.platform == "win32" and current_thread() is main_thread():
        loop = asyncio.get_running_loop()
        signal.signal(signal.SIGBREAK, lambda *_: loop.call_soon_threadsafe(this.cancel))
    taken: dict[signal.Signals, Any] = {}
    if this and sys.platform != "win32" and current_thread() is main_thread():
        for each in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(each) is not signal.SIG_IGN:
                taken[each] = signal.getsignal(each)
                asyncio.get_running_loop().add_signal_handler(each, this.cancel)
    try:
        return await work
    finally:
        for each, before in taken.items():  # the loop would leave the default, which kills
            asyncio.get_running_loop().remove_signal_handler(each)
            signal.signal(each, before)
