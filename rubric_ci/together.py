"""Do many things at once; when that is stopped, what had ended counts; effects."""

import asyncio
from collections.abc import Coroutine, Iterable, Sequence
from typing import Any, TypeVar

T = TypeVar("T")


async def ended(works: Iterable[Coroutine[Any, Any, T]]) -> tuple[T, ...]:
    """Return the results in the order of the works.

    When this is cancelled (Ctrl-C), whatever runs is stopped and the results so far are returned:
    fewer results than works mean just that. What a work raises stops all and is raised.
    """
    running = [asyncio.create_task(work) for work in works]
    try:
        await asyncio.gather(*running)
    except asyncio.CancelledError:
        await _stop(running)
    except BaseException:
        await _stop(running)
        raise
    return tuple(task.result() for task in running if _has_result(task))


async def _stop(running: "Sequence[asyncio.Task[T]]") -> None:
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)


def _has_result(task: "asyncio.Task[T]") -> bool:
    return not task.cancelled() and task.exception() is None
