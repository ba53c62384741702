"""Temporary folders that no run leaves behind: the next run removes a killed run's.

The owner of a folder holds a lock in it. A folder whose lock is free has no owner. On Linux the
processes that still run with the folder in `VARIABLE` end with it, in other sessions too.
"""

import os
import shutil
import signal
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from errno import EACCES
from functools import cache
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from time import sleep
from typing import Any, Final

from rubric_ci.errors import CannotRunScript
from rubric_ci.system import repository


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
    if os.path.islink(path):  # noqa: PTH114 - else the destination would get the mode
        raise PermissionError(EACCES, "it cannot be removed", path)
    os.chmod(path, stat.S_IRWXU)  # noqa: PTH101 - a string, as rmtree has it
    remove(path)


PREFIX: Final = "rubric-ci-work-"
LOCK: Final = "lock"
VARIABLE: Final = "RUBRIC_CI_WORKSPACE"
_ROUNDS: Final = 20  # a process may start another one while it is looked for


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Yield an empty folder outside of every repository; raises CannotRunScript."""
    above = outside()
    _remove_abandoned(above)
    new = Path(mkdtemp(prefix="rubric-ci-new-", dir=above))
    try:
        with hold(new / LOCK):
            if sys.platform != "win32":  # which moves no folder with an open file
                new = new.rename(above / new.name.replace("rubric-ci-new-", PREFIX))
            inner = new / "folder"
            inner.mkdir()
            yield inner
    finally:
        remove(new)


def outside() -> Path:
    """Return the folder of temporary files; raises CannotRunScript if a repository holds it.

    NOTE: agents read instructions, settings and `.env` files of all folders above theirs.
    """
    above = Path(gettempdir()).resolve()
    if _is_in_repository(above):
        raise CannotRunScript(f"the temporary folder {above} is in a repository; set TMPDIR")
    return above


@contextmanager
def program_folder() -> Iterator[Path]:
    """Yield a folder for the files of one program, which may leave anything in its place."""
    folder = Path(mkdtemp(prefix="rubric-ci-")).resolve()
    try:
        yield folder
    finally:
        remove_what_can_be(folder)  # nothing through a link
        with suppress(OSError):
            folder.unlink()


@cache
def _is_in_repository(folder: Path) -> bool:
    """Return True for a repository above a folder; a program may create one later."""
    return any(repository.around(folder))


def variables(work: Path) -> dict[str, str]:
    """Return the environment of a program that works in such a folder: git looks no higher."""
    return {VARIABLE: str(work), "GIT_CEILING_DIRECTORIES": str(work.parent)}


def remove(folder: Path) -> None:
    """Remove a folder with all that a program may have made of it; links are not followed."""
    _end_processes(folder)
    for place, names, _ in os.walk(folder):
        for name in names:
            path = Path(place, name)
            with suppress(OSError):
                if not path.is_symlink():
                    path.chmod(0o700)
    remove_what_can_be(folder)


def _end_processes(folder: Path) -> None:
    """Kill the processes that name the folder in their environment; only Linux shows it."""
    if sys.platform != "linux":
        return
    mark = f"\0{VARIABLE}={folder}{os.sep}".encode()
    for _ in range(_ROUNDS):
        processes = (path for path in Path("/proc").iterdir() if path.name.isdigit())
        left = [int(path.name) for path in processes if mark in _environment(path)]
        if not left:
            return
        for process in left:
            with suppress(OSError):
                os.kill(process, signal.SIGKILL)
        sleep(0.01)


def _environment(process: Path) -> bytes:
    """Return the variables of a process, each after a zero byte."""
    try:
        with (process / "environ").open("rb", buffering=0) as file:
            return b"\0" + file.read()
    except OSError:  # ended, or of another user
        return b""


@cache
def _remove_abandoned(above: Path) -> None:
    """Remove the folders of killed runs, once per process."""
    for folder in above.glob(f"{PREFIX}*"):
        with suppress(OSError):
            if (folder / LOCK).exists() and is_free(folder / LOCK):
                remove(folder)


if sys.platform != "win32":
    import fcntl


@contextmanager
def hold(path: Path) -> Iterator[None]:
    """Create a file and hold its lock."""
    with path.open("wb") as file:
        if sys.platform != "win32":
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Wait until no other rubric-ci writes in a folder, and hold it.

    NOTE: Windows locks no folder, so that two processes may write there at once.
    """
    if sys.platform == "win32":
        yield
    else:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


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
