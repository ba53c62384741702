"""SIGTERM ends a run as Ctrl-C does: with the results so far."""

import asyncio
import os
import signal
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


async def run_until_terminated(work: Awaitable[T]) -> T:
    """Await the work; SIGTERM, which a cancelled CI job sends, cancels this task."""
    this = asyncio.current_task()
    if this and os.name == "posix":
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, this.cancel)
    return await work
