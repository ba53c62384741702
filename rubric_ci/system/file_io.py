"""Read and write files that a repository names: regular, inside the root by real path, bounded.

A path given on the command line may be outside the root. A path below the root must not leave it
through a link, whether a user or a file named it: the target of a link is the repository's choice.
"""

import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from errno import EINVAL, ELOOP, ENOTDIR
from pathlib import Path
from time import sleep, time
from typing import Final

from rubric_ci.errors import CannotReadFile, CannotWriteFile, ChangedMeanwhile
from rubric_ci.values.formats_and_defaults import OUTPUT_DIR

ABANDONED: Final = 60.0  # seconds after which the writer of a draft is assumed to be gone
_RANDOM: Final = re.compile(r"[0-9a-f]{8}")
MAX_BYTES: Final = 64 * 2**20
_LONGEST_NAME: Final = 255  # bytes, of most file systems
_WAITS: Final = (0.01, 0.05, 0.1, 0.25, 0.5)  # seconds for a file that is open elsewhere

# Windows has neither, and no FIFOs below a folder.
_NO_WAIT: Final = getattr(os, "O_NONBLOCK", 0)
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)
_BINARY: Final = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_FOLDER: Final = getattr(os, "O_DIRECTORY", 0) | _NO_LINK | _BINARY
_NO_FOLDER: Final = {ENOTDIR, ELOOP}  # what systems say of a link, or of a file
_CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def read_named(path: Path, root: Path) -> bytes:
    """Return the bytes of a file that a file of the repository names; raises CannotReadFile.

    `root` has no link in its path; below any other root, no file would be found inside.
    """
    real = os.path.realpath(path)
    if reason := _why_not(real, str(root)):
        raise _refused(path, reason)
    return read_own(Path(real), shown=path)


def read_given(path: Path, root: Path) -> bytes:
    """Return the bytes of a file that was found, or given by the user; raises CannotReadFile."""
    if _is_below(path, root):
        return read_named(path, root)
    return read_own(Path(os.path.realpath(path)), shown=path)


def read_own(path: Path | str, *, shown: Path | str) -> bytes:
    """Return the bytes of a regular file that is not itself a link; raises CannotReadFile."""
    data = _read_limited(path, shown)
    if len(data) > MAX_BYTES:
        raise _refused(shown, f"it has more than {MAX_BYTES // 2**20} MiB")
    return data


def read_start(path: Path) -> bytes:
    """Return the first bytes of a regular file, to decide what it is; raises CannotReadFile."""
    return _read_limited(Path(os.path.realpath(path)), path)[:MAX_BYTES]


def read_lines(path: Path, most: int) -> Iterator[bytes]:
    """Yield the lines of a regular file; of one with more than `most` bytes, so many and one more.

    Raises CannotReadFile.
    """
    try:
        descriptor, _ = _open(Path(os.path.realpath(path)), os.O_RDONLY)
    except OSError as error:
        raise _refused(path, error.strerror) from None
    with os.fdopen(descriptor, "rb") as file:
        while line := file.readline(most + 1):
            yield line
            while len(line) > most and not line.endswith(b"\n"):
                line = file.readline(most + 1)  # the rest of a long line


def read_end(path: Path, most: int) -> bytes:
    """Return the last bytes of a regular file that is not itself a link; raises OSError."""
    descriptor, size = _open(path, os.O_RDONLY)
    with os.fdopen(descriptor, "rb") as file:
        file.seek(max(size - most, 0))
        return file.read(most)


def check_place(path: Path, root: Path) -> None:
    """Raise CannotWriteFile if a link leads a path below the root out of it, or into `.git`."""
    if _is_below(path, root):
        reason = _why_not(os.path.realpath(path), str(root))
        if reason:
            raise _led_away(path, reason)


def _led_away(path: Path, reason: str) -> CannotWriteFile:
    return CannotWriteFile(f"{path}: not written: {reason}", "remove the link on its way")


def empty_file(path: Path) -> None:
    """Create a file, or truncate it; raises OSError for a link or a pipe."""
    os.close(_open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)[0])


def append(path: Path, data: bytes) -> None:
    """Append to a file that exists; raises OSError for a link or a pipe."""
    with os.fdopen(_open(path, os.O_WRONLY | os.O_APPEND)[0], "ab") as file:
        file.write(data)


def is_inside(path: str, top: str) -> bool:
    """Return True if a path is the folder or lies below it, as they are written."""
    return path == top or path.startswith(top.rstrip(os.sep) + os.sep)


def _is_below(path: Path, root: Path) -> bool:
    return is_inside(os.path.abspath(path), str(root))  # keeps links


def _why_not(real: str, top: str) -> str:
    """Return why a real path is not a place for a file that the repository names; empty: it is."""
    if not is_inside(real, top):
        return "it is outside the repository"
    if sys.platform == "win32" and ":" in real[len(top) :]:
        return "it is a stream of a file or folder"  # `.git::$INDEX_ALLOCATION` opens `.git`
    inside = real[len(top) :].replace("\\", "/").casefold().split("/")
    return "it is in `.git`" if ".git" in inside else ""


def _read_limited(path: Path | str, shown: Path | str) -> bytes:
    """Return one byte more than a file may have, if it is so long."""
    try:
        descriptor, size = _open(path, os.O_RDONLY)
        try:
            # As much as it has, and not the limit at once: Python reserves what it is to read.
            size = min(size, MAX_BYTES)
            data = os.read(descriptor, size + 1)
            while len(data) != size and (more := os.read(descriptor, MAX_BYTES + 1 - len(data))):
                data += more  # a read may end early, and a file may grow
            return data
        finally:
            os.close(descriptor)
    except OSError as error:
        raise _refused(shown, error.strerror) from None


def _open(path: Path | str, how: int) -> tuple[int, int]:
    """Return the descriptor of a regular file and its size."""
    try:
        descriptor = os.open(path, how | _NO_WAIT | _NO_LINK | _BINARY, 0o666)
    except PermissionError:
        if Path(path).is_dir():  # Windows opens no folder
            raise _not_regular() from None
        raise
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise _not_regular()
    return descriptor, status.st_size


def _not_regular() -> OSError:
    return OSError(EINVAL, "it is not a regular file")


def _refused(path: Path | str, reason: str | None) -> CannotReadFile:
    return CannotReadFile(f"cannot read {path}: {reason}", reason=str(reason))


@contextmanager
def writing(path: Path | str, what: str = "", hint: str = "") -> Iterator[None]:
    """Raise CannotWriteFile where the system refuses a file: `PATH: cannot write WHAT: …`."""
    try:
        yield
    except OSError as error:
        tried = f"{path}: cannot write {what}".rstrip()
        raise CannotWriteFile(f"{tried}: {error.strerror}", hint) from error


def create_folder(folder: Path) -> None:
    """Create a folder if it is missing; git ignores a new `.rubric-ci` with all that is in it."""
    ours = next((each for each in (folder, *folder.parents) if each.name == OUTPUT_DIR), None)
    is_new = ours is not None and not ours.exists()
    if ours and is_new:
        ours.parent.mkdir(parents=True, exist_ok=True)
        try:
            ours.mkdir()
        except FileExistsError:  # another job at the same time, or a script that made it a link
            if ours.is_symlink():
                check_place(ours, Path(os.path.realpath(ours.parent)))
    folder.mkdir(parents=True, exist_ok=True)
    if ours and is_new:
        (ours / ".gitignore").write_bytes(b"*\n")


def write(path: Path, content: bytes) -> None:
    """Create or replace a file; its folder is created if it is missing."""
    write_pieces(path, (content,))


def write_pieces(path: Path, pieces: Iterable[bytes]) -> None:
    """Create or replace a file from the pieces of its content."""
    # Strings: a run writes thousands of judgements, and paths cost a fifth of each.
    if not os.path.isdir(os.path.dirname(path)):
        create_folder(path.parent)
    with _draft(path, pieces, mode=0o666) as draft:
        _move(draft, path)


def write_within(path: Path, content: bytes, root: Path) -> None:
    """Create or replace a file; one below the root raises CannotWriteFile if a link leads it out.

    Its folders are opened one by one, each in the one before: a program of the repository can put
    a link in the place of a folder between a check and the write.
    """
    if os.open not in os.supports_dir_fd or not _is_below(path, root):
        check_place(path.parent, root)
        write(path, content)
        return
    real = os.path.realpath(path.parent)  # once: a link may take its place at any moment
    if reason := _why_not(real, str(root)):
        raise _led_away(path.parent, reason)
    inside = Path(real).relative_to(root).parts
    try:
        for is_last in (False, False, True):
            try:
                _write_below(root, inside, path.name, content)
            except FileNotFoundError:  # a folder was removed after it was opened
                if is_last:
                    raise
            else:
                return
    except OSError as error:
        if error.errno not in _NO_FOLDER:
            raise
        raise _led_away(path.parent, "a link or a file stands in the place of a folder") from None


def _write_below(root: Path, folders: Iterable[str], name: str, content: bytes) -> None:
    """Write a file below folders that are opened one in another; raises OSError."""
    folder = os.open(root, _FOLDER)
    try:
        for each in folders:
            below = _open_folder(each, folder)
            os.close(folder)
            folder = below
        with _draft(name, (content,), mode=0o666, folder=folder) as draft:
            os.replace(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
    finally:
        os.close(folder)


def _open_folder(name: str, inside: int) -> int:
    """Return the descriptor of a folder, which is created if it is missing; raises OSError."""
    with suppress(FileNotFoundError):
        return os.open(name, _FOLDER, dir_fd=inside)
    with suppress(FileExistsError):
        os.mkdir(name, dir_fd=inside)
    found = os.open(name, _FOLDER, dir_fd=inside)
    if name == OUTPUT_DIR:
        with (
            suppress(FileExistsError),
            os.fdopen(os.open(".gitignore", _CREATE, dir_fd=found), "wb") as file,
        ):
            file.write(b"*\n")
    return found


def replace(path: Path, before: bytes, after: bytes) -> None:
    """Replace the content `before` with `after`; keep the file's mode.

    Raises ChangedMeanwhile if the file no longer has the content `before`, and CannotWriteFile.
    """
    check_writable(path)
    try:
        _replace(path.resolve(), before, after)
    except OSError as error:
        raise CannotWriteFile(f"{path}: {error.strerror}", "The file is unchanged.") from error
    except _Changed:
        raise ChangedMeanwhile(
            f"{path}: changed on disk in the meantime, so it was not written", "Run this again."
        ) from None


def check_writable(path: Path) -> None:
    """Raise CannotWriteFile for a file that `replace` refuses.

    It or its folder is read-only, or it is a symbolic link, which could lead out of the root.
    """
    if path.is_symlink():
        hint = "Fix the file that it leads to."
        raise CannotWriteFile(f"{path} is a symbolic link, and links are not written through", hint)
    target = path.resolve()
    hint = "Make it writable; the file is unchanged."
    if target.exists() and not target.stat().st_mode & 0o222:
        raise CannotWriteFile(f"{path} is read-only", hint)
    if target.parent.exists() and not os.access(target.parent, os.W_OK):
        raise CannotWriteFile(f"the folder of {path} is read-only", hint)


def _move(draft: Path | str, path: Path) -> None:
    """Put a draft in the place of a file.

    NOTE: Windows refuses it while another process has the file open, such as a virus scanner.
    """
    waits = _WAITS if sys.platform == "win32" else ()
    for wait in waits:
        try:
            os.replace(draft, path)
        except PermissionError:
            sleep(wait)
        else:
            return
    os.replace(draft, path)


class _Changed(Exception):
    pass


def clean(target: Path) -> None:
    """Delete the drafts of a file whose writer was killed."""
    beginning, ending = f"{target.name}.", ".tmp"
    with suppress(OSError):
        for each in target.parent.iterdir():
            middle = each.name.removeprefix(beginning).removesuffix(ending)
            if each.name != f"{beginning}{middle}{ending}" or not _RANDOM.fullmatch(middle):
                continue
            if time() - each.lstat().st_mtime > ABANDONED:
                each.unlink(missing_ok=True)


def _replace(target: Path, before: bytes, after: bytes) -> None:
    clean(target)
    try:
        with _draft(target, (after,), mode=0o600, sync=True) as draft:
            _copy_mode(target, Path(draft))
            if target.read_bytes() != before:
                raise _Changed
            _move(draft, target)
    except FileNotFoundError:
        raise _Changed from None


@contextmanager
def _draft(
    target: Path | str,
    pieces: Iterable[bytes],
    *,
    mode: int,
    sync: bool = False,
    folder: int | None = None,
) -> Iterator[str]:
    """Yield the path of a new file with this content next to the target; delete it on an error.

    The paths are relative to the folder of the descriptor, if one is given.
    """
    ending = f".{os.urandom(4).hex()}.tmp"
    draft = f"{target}{ending}"
    if len(os.fsencode(Path(draft).name)) > _LONGEST_NAME:
        draft = str(Path(target).with_name(f"rubric-ci{ending}"))
    descriptor = os.open(draft, _CREATE, mode, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.writelines(pieces)
            if sync:
                file.flush()
                os.fsync(file.fileno())
        yield draft
    except BaseException:  # a signal too leaves no draft
        with suppress(FileNotFoundError):
            os.unlink(draft, dir_fd=folder)
        raise


def _copy_mode(source: Path, draft: Path) -> None:
    """Copy the mode of a file, and its owner where this is permitted."""
    status = source.stat()
    draft.chmod(stat.S_IMODE(status.st_mode))
    if hasattr(os, "chown"):
        with suppress(OSError):
            os.chown(draft, status.st_uid, status.st_gid)
