"""Do many things at once and leave none of them behind; effects.

NOTE: a cancelled `asyncio.gather` goes on at the first of its tasks that ends. The others are
still cleaning up then, and to cancel them once more would keep them from it. A task group cancels
each once and waits for all.
"""

import asyncio
from collections.abc import Coroutine, Iterable
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


async def gather_until_cancelled(works: Iterable[Coroutine[Any, Any, T]]) -> tuple[T, ...]:
    """Return the results in the order of the works.

    When this is cancelled (Ctrl-C), whatever runs is stopped and the results so far are returned:
    fewer results than works mean just that. What a work raises stops all and is raised.
    """
    running: list[asyncio.Task[T]] = []
    with suppress(asyncio.CancelledError):
        await _run(works, running)
    return tuple(task.result() for task in running if not task.cancelled())


async def gather_all(works: Iterable[Coroutine[Any, Any, T]]) -> tuple[T, ...]:
    """Return all results in the order of the works; what a work raises stops all and is raised."""
    running: list[asyncio.Task[T]] = []
    await _run(works, running)
    return tuple(task.result() for task in running)


async def _run(works: Iterable[Coroutine[Any, Any, T]], running: "list[asyncio.Task[T]]") -> None:
    try:
        async with asyncio.TaskGroup() as group:
            running.extend(group.create_task(work) for work in works)
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None
