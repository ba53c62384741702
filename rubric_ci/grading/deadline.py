"""The time limit of a run, for what is not a model request: commands, scripts and text work."""

import asyncio
from collections.abc import Awaitable
from time import monotonic
from typing import Final, TypeVar

from rubric_ci.errors import OverBudget

T = TypeVar("T")

GRACE: Final = 1.0  # seconds; llm/budget.py ends model requests before, and counts their usage


class Deadline:
    """Cancels work on a case after a number of seconds since a start; None: never, and now."""

    def __init__(self, seconds: float | None, start: float | None = None) -> None:
        self._seconds = seconds
        begun = monotonic() if start is None else start
        self._end = None if seconds is None else begun + seconds + GRACE

    async def enforce(self, work: Awaitable[T]) -> T:
        """Await the work; raise OverBudget if it does not end in time."""
        left = None if self._end is None else max(0.0, self._end - monotonic())
        try:
            async with asyncio.timeout(left) as limit:
                return await work
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise OverBudget(f"budget: time limit of {self._seconds:g} s reached") from error
