"""Atomic writes: a reader sees the old content of a file or the new one, never a part of it."""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from rubric_ci.errors import CannotWriteFile, ChangedMeanwhile

_CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def write(path: Path, content: bytes) -> None:
    """Create or replace a file; its folder is created if it is missing."""
    write_pieces(path, (content,))


def write_pieces(path: Path, pieces: Iterable[bytes]) -> None:
    """Create or replace a file from the pieces of its content."""
    # Strings: a run writes thousands of judgements, and paths cost a fifth of each.
    if not os.path.isdir(os.path.dirname(path)):  # noqa: PTH112, PTH120
        path.parent.mkdir(parents=True, exist_ok=True)
    with _draft(path, pieces, mode=0o666) as draft:
        os.replace(draft, path)  # noqa: PTH105


def replace(path: Path, before: bytes, after: bytes) -> None:
    """Replace the content `before` with `after`; keep the file's mode.

    Raises ChangedMeanwhile if the file no longer has the content `before`, CannotWriteFile for a
    symbolic link: it could lead out of the repository.
    """
    if path.is_symlink():
        hint = "Fix the file that it leads to."
        raise CannotWriteFile(f"{path} is a symbolic link, and links are not written through", hint)
    target = path.resolve()
    try:
        _replace(target, before, after)
    except OSError as error:
        raise CannotWriteFile(f"{path}: {error.strerror}", "The file is unchanged.") from error
    except _Changed:
        raise ChangedMeanwhile(
            f"{path}: changed on disk in the meantime, so it was not written", "Run this again."
        ) from None


class _Changed(Exception):
    pass


def _replace(target: Path, before: bytes, after: bytes) -> None:
    try:
        with _draft(target, (after,), mode=0o600, sync=True) as draft:
            _copy_mode(target, Path(draft))
            if target.read_bytes() != before:
                raise _Changed
            Path(draft).replace(target)
    except FileNotFoundError:
        raise _Changed from None


@contextmanager
def _draft(
    target: Path, pieces: Iterable[bytes], *, mode: int, sync: bool = False
) -> Iterator[str]:
    """Yield the path of a new file with this content beside the target; delete it on an error."""
    draft = f"{target}.{os.urandom(4).hex()}.tmp"
    descriptor = os.open(draft, _CREATE, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.writelines(pieces)
            if sync:
                file.flush()
                os.fsync(file.fileno())
        yield draft
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


def _copy_mode(source: Path, draft: Path) -> None:
    """Copy the mode of a file, and its owner where this is permitted."""
    status = source.stat()
    draft.chmod(stat.S_IMODE(status.st_mode))
    if hasattr(os, "chown"):
        with suppress(OSError):
            os.chown(draft, status.st_uid, status.st_gid)
