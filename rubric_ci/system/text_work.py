"""Work on large texts in a thread, so that timeouts, signals and other cases have their turn."""

import asyncio
from collections.abc import Callable
from typing import Final, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

LARGE: Final = 20_000  # characters; the scan of fewer takes at most about 30 ms


async def worked_on(size: int, work: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
    """Return the result of the work: in a thread for a text of many characters, else at once."""
    if size < LARGE:
        return work(*given, **named)
    return await asyncio.to_thread(work, *given, **named)
