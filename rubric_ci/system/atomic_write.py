"""Replaces what a file says at once, if it still says what was read; effects."""

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from rubric_ci.errors import CannotWriteFile, ChangedMeanwhile


def replace(path: Path, before: bytes, after: bytes) -> None:
    """Write `after` where `before` stands; the mode stays as it is, a symbolic link is refused.

    A reader sees the old bytes or the new ones. Raises ChangedMeanwhile if the file no longer says
    what was read.
    """
    if path.is_symlink():
        hint = "Fix the file that it leads to."
        raise CannotWriteFile(f"{path} is a symbolic link, and links are not written through", hint)
    target = path.resolve()
    try:
        _replace(target, before, after)
    except OSError as error:
        raise CannotWriteFile(f"{path}: {error.strerror}", "The file is as it was.") from error
    except _Changed:
        raise ChangedMeanwhile(
            f"{path}: changed on disk meanwhile, so it is left as it is", "Run this again."
        ) from None


class _Changed(Exception):
    pass


def _replace(target: Path, before: bytes, after: bytes) -> None:
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    fresh = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(after)
            file.flush()
            os.fsync(file.fileno())
        _take_over(target, fresh)
        if target.read_bytes() != before:
            raise _Changed
        fresh.replace(target)
    except FileNotFoundError:
        raise _Changed from None
    finally:
        fresh.unlink(missing_ok=True)


def _take_over(old: Path, fresh: Path) -> None:
    """Give the new file the mode of the old one, and its owner where that is possible."""
    status = old.stat()
    fresh.chmod(stat.S_IMODE(status.st_mode))
    if hasattr(os, "chown"):
        with suppress(OSError):
            os.chown(fresh, status.st_uid, status.st_gid)
