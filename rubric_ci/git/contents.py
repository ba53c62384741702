"""The content of every file of a commit or of the working tree, as the ids of git's objects.

Equal digests mean equal files on either side. A file of the working tree that
differs from its commit has the id that git would give its bytes.
"""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from posixpath import dirname
from typing import Final

from rubric_ci.errors import CannotReadFile
from rubric_ci.git import plumbing
from rubric_ci.git.process import Repository
from rubric_ci.model.changes import ABSENT, SUBMODULE, SYMLINK, Entry
from rubric_ci.model.dataclass import dataclass
from rubric_ci.system import confined

UNKNOWN: Final = ""
"""The id of what cannot be read, such as a submodule with changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """The files of one state of a repository, by path from its root."""

    ids: Mapping[str, str]  # mode and object id, or UNKNOWN
    folders: frozenset[str] = field(default=frozenset())  # with a file below them

    def digest(self, matches: Callable[[str], bool], names: Iterable[str] = ()) -> str | None:
        """Return a digest of the files that match, are named, or are below a named folder.

        None: one of them cannot be read.
        """
        known = [name for name in names if name in self.ids or name in self.folders]
        below = tuple(f"{name}/" for name in known)
        chosen = {
            path: found
            for path, found in self.ids.items()
            if matches(path) or path in known or (below and path.startswith(below))
        }
        if UNKNOWN in chosen.values():
            return None
        lines = "".join(f"{found} {path}\0" for path, found in sorted(chosen.items()))
        return hashlib.sha256(lines.encode("utf-8", "surrogateescape")).hexdigest()


def of_entries(entries: Mapping[str, Entry]) -> Contents:
    """Return the files of a commit's tree."""
    return _contents({path: f"{each.mode} {each.object_id}" for path, each in entries.items()})


def of_working_tree(repository: Repository, outputs: Iterable[str]) -> Contents:
    """Return the files on disk that git does not ignore, without those below the output folders."""
    written = tuple(f"{folder}/" for folder in outputs)
    head = plumbing.commit(repository, "HEAD")
    if head is None:
        return Contents(ids={"": UNKNOWN})
    ids = dict(of_entries(plumbing.tree(repository, "HEAD")).ids)
    sha1 = len(head) == 40
    for change in plumbing.changes(repository, "HEAD"):
        if change.new_mode == ABSENT:
            ids.pop(change.path, None)
        elif not change.path.startswith(written):
            ids[change.path] = _id(repository.root / change.path, change.new_mode, sha1=sha1)
    return _contents(ids)


def _contents(ids: Mapping[str, str]) -> Contents:
    return Contents(ids=ids, folders=frozenset(name for path in ids for name in _above(path)))


def _above(path: str) -> Iterator[str]:
    while path := dirname(path):
        yield path


def _id(path: Path, mode: str, *, sha1: bool) -> str:
    if mode == SUBMODULE:
        return UNKNOWN
    try:
        link = mode == SYMLINK
        data = os.fsencode(path.readlink()) if link else confined.read_own(path, shown=path)
    except (OSError, CannotReadFile):
        return UNKNOWN
    digest = hashlib.sha1(usedforsecurity=False) if sha1 else hashlib.sha256()
    digest.update(b"blob %d\0" % len(data) + data)
    return f"{mode} {digest.hexdigest()}"
