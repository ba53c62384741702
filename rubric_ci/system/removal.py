"""Remove folders on every platform.

Windows deletes no file that is read-only, as the objects of git are.
"""

import os
import shutil
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from errno import EACCES
from pathlib import Path
from typing import Any


def remove_tree(folder: Path) -> None:
    """Remove a folder with all that is in it; raises OSError. Links are not followed."""
    _remove(folder, _writable)


def remove_what_can_be(folder: Path) -> None:
    """Remove a folder as far as the platform does; a file that a process holds open may stay."""

    def again(remove: Callable[..., Any], path: str) -> None:
        with suppress(OSError):
            _writable(remove, path)

    _remove(folder, again)


def _remove(folder: Path, again: Callable[[Callable[..., Any], str], None]) -> None:
    if sys.version_info >= (3, 12):
        shutil.rmtree(folder, onexc=lambda remove, path, _: again(remove, path))
    else:
        shutil.rmtree(folder, onerror=lambda remove, path, _: again(remove, path))


def _writable(remove: Callable[..., Any], path: str) -> None:
    """Remove a path that was refused once it may be written; raises OSError."""
    if os.path.islink(path):  # noqa: PTH114 - the mode would be that of what it leads to
        raise PermissionError(EACCES, "it cannot be removed", path)
    os.chmod(path, stat.S_IRWXU)  # noqa: PTH101 - a string, as rmtree has it
    remove(path)
