"""Wait for what another process does."""

import time
from collections.abc import Callable


def wait_until(happened: Callable[[], bool], seconds: float = 60) -> None:
    """Return when it happened; fail after this many seconds."""
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)
