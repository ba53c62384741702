"""Open files that a repository names: regular, inside the root by real path, of bounded size.

A path given on the command line may be outside the root. A path below the root must not leave it
through a link, whoever named it: the target of a link is the repository's choice.
"""

import os
import stat
from pathlib import Path
from typing import Final

from rubric_ci.errors import CannotReadFile

MAX_BYTES: Final = 64 * 2**20

# Windows has neither, and no FIFOs below a folder.
_NO_WAIT: Final = getattr(os, "O_NONBLOCK", 0)
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)
_BINARY: Final = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


def read_named(path: Path, root: Path) -> bytes:
    """Return the bytes of a file that a file of the repository names; raises CannotReadFile.

    `root` has no link in its path; below any other root, no file would be found inside.
    """
    real, top = os.path.realpath(path), str(root)
    if not is_inside(real, top):
        raise _refused(path, "it is outside the repository")
    inside = real[len(top) :].replace("\\", "/").casefold().split("/")
    if ".git" in inside:
        raise _refused(path, "it is in `.git`")
    return read_own(Path(real), shown=path)


def read_given(path: Path, root: Path) -> bytes:
    """Return the bytes of a file that was found, or given by the user; raises CannotReadFile."""
    below = is_inside(os.path.abspath(path), str(root))  # noqa: PTH100 - keeps links
    return read_named(path, root) if below else read_own(Path(os.path.realpath(path)), shown=path)


def read_own(path: Path, *, shown: Path) -> bytes:
    """Return the bytes of a regular file that is not itself a link; raises CannotReadFile."""
    try:
        descriptor = os.open(path, os.O_RDONLY | _NO_WAIT | _NO_LINK | _BINARY)
    except OSError as error:
        raise _refused(shown, error.strerror) from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _refused(shown, "it is not a regular file")
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise _refused(shown, f"it has more than {MAX_BYTES // 2**20} MiB")
    return data


def empty_file(path: Path) -> None:
    """Create a file, or truncate it; raises OSError for a link or a pipe."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _NO_WAIT | _NO_LINK | _BINARY
    os.close(os.open(path, flags, 0o666))


def is_inside(path: str, top: str) -> bool:
    """Return True if a path is the folder or lies below it, as they are written."""
    return path == top or path.startswith(top.rstrip(os.sep) + os.sep)


def _refused(path: Path, reason: str | None) -> CannotReadFile:
    return CannotReadFile(f"cannot read {path}: {reason}")
