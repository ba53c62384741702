"""The files of a working tree: its root, names from there, reading, writing, references."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from rubric_ci.errors import CannotReadFile
from rubric_ci.files.project.file_kinds import CONFIG_NAMES, HERE
from rubric_ci.files.yaml_text.source import decode
from rubric_ci.system import file_io
from rubric_ci.system.repository import NOT_CHECKED_OUT, around, empty_submodule
from rubric_ci.text.globs import matcher
from rubric_ci.values.problems import GIT_LFS
from rubric_ci.values.references import (
    LFS_POINTER,
    NO_SUCH_FILE,
    Found,
    Lookup,
    NotFound,
    file_content,
    file_text,
    why_no_path,
)


def find_root(start: Path) -> Path:
    """Return the repository that holds a folder; without one, the nearest configured folder."""
    here = start.resolve()
    configured = (
        folder
        for folder in (here, *here.parents)
        if any((folder / name).exists() for name in CONFIG_NAMES)
    )
    return next(around(here), None) or next(configured, here)


def from_root(path: Path, root: Path) -> str:
    """Return the name of a file in reports: relative to the root, with forward slashes."""
    lost = path.is_symlink() and not path.exists()  # a link to nothing has its own name
    real = f"{os.path.realpath(path.parent)}{os.sep}{path.name}" if lost else os.path.realpath(path)
    top = os.path.realpath(root)
    return _below(real, top) if file_io.is_inside(real, top) else path.as_posix()


def _below(path: str, top: str) -> str:
    return path[len(top) :].replace(os.sep, "/").lstrip("/") or HERE


def from_here(path: Path) -> Path:
    """Return a path relative to the current folder, if it is below it."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def read_text(path: Path, root: Path | None = None, *, written_by: str = "") -> str:
    """Return the text of a file, see `file_text`; raises CannotReadFile as `read_bytes` does.

    The error of a missing file names the command that writes it, if given.
    """
    if written_by and not os.path.lexists(path):
        raise CannotReadFile(f"{path} does not exist", f"`{written_by}` writes it")
    data = read_bytes(path, root)
    if data.startswith(LFS_POINTER):
        raise CannotReadFile(f"{path} is a pointer of Git LFS, not the text", GIT_LFS.hint)
    try:
        return file_text(data)
    except UnicodeDecodeError as error:
        raise CannotReadFile(
            f"{path} is not UTF-8 text: byte {error.start} does not fit", "save it as UTF-8"
        ) from None


def read_bytes(path: Path, root: Path | None = None) -> bytes:
    """Return a file's bytes; raises CannotReadFile, also if a link leads it out of the root.

    Without a root, it is the repository of the current folder.
    """
    return file_io.read_given(path, root or find_root(Path.cwd()))


def text_of(path: Path, root: Path | None = None) -> str:
    """Return the text of a file; empty: it cannot be read, which its check reports."""
    with suppress(CannotReadFile):
        if isinstance(text := decode(read_bytes(path, root)), str):
            return text
    return ""


def write_text(path: Path, text: str, what: str = "", hint: str = "") -> None:
    """Write a file and its folders atomically; raises CannotWriteFile if links lead elsewhere.

    `what` the file is stands in the message where it cannot be written.
    """
    check_place(path.parent)
    with file_io.writing(path.as_posix(), what, hint):
        file_io.write(path, text.encode())


def check_place(path: Path) -> None:
    """Raise CannotWriteFile if a link leads a path out of the repository of the current folder."""
    file_io.check_place(path, find_root(Path.cwd()))


def sidecar_of(path: Path) -> Path | None:
    """Return the YAML file with the suite fields of a JSON Lines file, if there is one."""
    sidecar = path.with_suffix(".yaml")
    return sidecar if path.suffix == ".jsonl" and os.path.lexists(sidecar) else None


def lookup(root: Path, eval_path: Path) -> Lookup:
    """Resolve references in the folder of the eval file, then in each folder above it."""
    top = os.path.realpath(root)
    folder = os.path.realpath(eval_path.parent)

    def find(reference: str) -> Found | NotFound:
        if refused := why_no_path(reference):
            return refused
        reason = NO_SUCH_FILE
        for candidate in _candidates(reference, folder, top):
            real = os.path.realpath(candidate)
            if not os.path.lexists(candidate):
                continue
            if not file_io.is_inside(real, top):
                reason = "is outside the repository"
                continue
            return _found(real, top)
        places = map(os.path.normpath, _candidates(reference, folder, top))
        inside = (_below(place, top) for place in places if file_io.is_inside(place, top))
        missing = next(filter(None, (empty_submodule(Path(top), place) for place in inside)), "")
        return NotFound(f"{NO_SUCH_FILE}; {NOT_CHECKED_OUT.format(missing)}" if missing else reason)

    return find


def _found(real: str, top: str) -> Found | NotFound:
    if os.path.isdir(real):
        return NotFound("is a folder")
    if not os.path.isfile(real):
        return NotFound("is not a regular file")  # reading a pipe would wait for its writer
    read = partial(file_io.read_named, Path(real), Path(top))
    try:
        return file_content(_below(real, top), read(), read)
    except CannotReadFile as error:
        return NotFound(f"cannot be read: {error.reason}")
    except UnicodeDecodeError:
        return NotFound("is not UTF-8 text")


def _candidates(reference: str, folder: str, top: str) -> Iterator[str]:
    if reference.startswith("/"):
        yield top + reference
    else:
        yield from (os.path.join(each, reference) for each in upwards(folder, top))


def upwards(folder: str, top: str) -> Iterator[str]:
    """Yield a folder and those above it, to the root; both are real paths."""
    yield folder
    while folder != top and file_io.is_inside(folder, top):
        folder = os.path.dirname(folder)
        yield folder


class WorkingTree(NamedTuple):
    """Implements `RepositoryFiles` with a folder; `validate` has no need of dataclasses."""

    root: Path

    def path(self, name: str) -> Path:
        """Return the path of a name; one outside of the root counts from the current folder."""
        return Path(name) if name.startswith("../") else self.root / name

    def read(self, name: str) -> bytes | None:
        path = self.path(name)
        exists = os.path.lexists(path)  # a dangling link or a pipe is refused, not left out
        return read_bytes(from_here(path), self.root) if exists else None

    def lookup(self, name: str) -> Lookup:
        return lookup(self.root, self.path(name))

    def matching(self, glob: str) -> list[str]:
        """Return the files that match a glob from the root, without hidden folders."""
        fits = matcher([glob])
        fixed = takewhile(lambda part: not re.search(r"[*?[]", part), glob.split("/")[:-1])
        found = []
        for folder, folders, files in os.walk(self.root.joinpath(*fixed)):
            folders[:] = [each for each in folders if not each.startswith(".")]
            above = Path(folder).relative_to(self.root)
            found += [name for file in files if fits(name := (above / file).as_posix())]
        return found
