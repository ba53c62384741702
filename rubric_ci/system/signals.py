"""SIGTERM and SIGHUP end a run as Ctrl-C does: with the results so far."""

import asyncio
import signal
import sys
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


async def run_until_terminated(work: Awaitable[T]) -> T:
    """Await the work; a signal cancels this task.

    A cancelled CI job sends SIGTERM, a terminal that is closed SIGHUP, which `nohup` ignores.
    """
    this = asyncio.current_task()
    if this and sys.platform != "win32":
        for each in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(each) is not signal.SIG_IGN:
                asyncio.get_running_loop().add_signal_handler(each, this.cancel)
    return await work
