"""A lock on a file, which ends with its process however that ends."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform != "win32":
    import fcntl


@contextmanager
def hold(path: Path) -> Iterator[None]:
    """Create a file and hold its lock."""
    with path.open("wb") as file:
        if sys.platform != "win32":
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def is_free(path: Path) -> bool:
    """Return True if no process holds the lock, or there is no such file.

    NOTE: on Windows an open file cannot be deleted, so the attempt shows whether it is held.
    """
    try:
        if sys.platform == "win32":
            path.unlink()
        else:
            with path.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        pass
    except OSError:
        return False
    return True
