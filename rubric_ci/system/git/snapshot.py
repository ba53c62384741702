"""The files of a commit, found as in a working tree; also of a stranger's commit on a checkout.

Links are followed, but never out of the repository. A file that is the same in the working tree
is read there, so that line endings and filters do not make it look changed. A file counts as
changed by a stranger if it differs between the commit and its merge base with the checkout; any
other is the checkout's. Nothing of that commit is checked out, fetched or run.
"""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from itertools import islice
from pathlib import Path
from posixpath import basename, dirname
from typing import Final

from rubric_ci.errors import CannotConfigure, CannotFindRevision, CannotReadFile
from rubric_ci.system import file_io
from rubric_ci.system.file_io import MAX_BYTES
from rubric_ci.system.git import plumbing
from rubric_ci.system.git.process import Repository
from rubric_ci.text.globs import matcher
from rubric_ci.values.changes import ABSENT, SUBMODULE, SYMLINK, Change, Entry
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.formats_and_defaults import FAILURE, LAST_FAILED, PROBE, REPORT_FILES
from rubric_ci.values.media import COPIES
from rubric_ci.values.references import (
    NO_SUCH_FILE,
    Found,
    Lookup,
    NotFound,
    file_content,
    file_text,
    why_no_path,
)

MAX_LINKS = 40
UNKNOWN: Final = ""
"""The id of an unreadable path, such as a submodule with changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Implements `RepositoryFiles` with a commit."""

    root: Path
    entries: Mapping[str, Entry]
    changed: frozenset[str]  # paths that differ from the working tree
    read_blob: Callable[[str], bytes]  # by object id

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a file, or None if there was no such file."""
        found = follow(path, self.link)
        return None if found is None else self._content(found)

    def text(self, path: str) -> str | None:
        content = self.read(path)
        return None if content is None else _decode(content)

    def lookup(self, eval_path: str) -> Lookup:
        def resolve(reference: str) -> Found | NotFound:
            if refused := why_no_path(reference):
                return refused
            folders = ("",) if reference.startswith("/") else (*_above(eval_path), "")
            for folder in folders:
                found = follow(f"{folder}/{reference}", self.link)
                content = None if found is None else self._content(found)
                if found is not None and content is not None:
                    return self._found(found, content)
            return NotFound(NO_SUCH_FILE)

        return resolve

    def _found(self, path: str, content: bytes) -> Found | NotFound:
        try:
            return file_content(path, content, lambda: self._content(path) or b"")
        except UnicodeDecodeError:
            return Found(path, _decode(content))

    def matching(self, glob: str) -> list[str]:
        """Return the files that match a glob from the root, without hidden folders."""
        fits = matcher([glob])
        return [path for path in self.entries if fits(path) and "/." not in f"/{dirname(path)}"]

    def link(self, path: str) -> str | None:
        """Return the destination of a link; None: it is not a link."""
        entry = self.entries.get(path)
        if entry is None or entry.mode != SYMLINK:
            return None
        return self.read_blob(entry.object_id).decode("utf-8", "surrogateescape")

    def _content(self, path: str) -> bytes | None:
        entry = self.entries.get(path)
        if entry is None:
            return self._content_in_submodule(path)
        if entry.mode == SUBMODULE:
            return None
        same = path not in self.changed
        return self._content_on_disk(path) if same else self.read_blob(entry.object_id)

    def _content_in_submodule(self, path: str) -> bytes | None:
        """Return the file; of a changed submodule its commit, as its objects may be missing."""
        for folder in _above(path):
            entry = self.entries.get(folder)
            if entry is not None and entry.mode == SUBMODULE:
                if folder in self.changed:
                    return f"{path} as of {entry.object_id}".encode()
                return self._content_on_disk(path)
        return None

    def _content_on_disk(self, path: str) -> bytes | None:
        """Return the content in the working tree; a link of a submodule may lead out of it."""
        try:
            return file_io.read_named(self.root / path, self.root)
        except CannotReadFile:
            return None


def committed_files(repository: Repository, entries: Mapping[str, Entry]) -> Snapshot:
    """Return these entries of a commit, each read from git's objects."""
    return Snapshot(
        root=repository.root,
        entries=entries,
        changed=frozenset(entries),
        read_blob=repository.objects.read,
    )


def follow(path: str, link: Callable[[str], str | None]) -> str | None:
    """Resolve `..` and links as a file system does; None if a link leads outside or to itself."""
    place: list[str] = []
    rest, links = path.split("/"), 0
    while rest:
        part, *rest = rest
        if part == "..":
            if not place:
                return None
            place.pop()
        elif part not in {"", "."}:
            target = link("/".join([*place, part]))
            if target is None:
                place.append(part)
            elif why_no_path(target) or target.startswith("/") or (links := links + 1) > MAX_LINKS:
                return None
            else:
                rest = [*target.split("/"), *rest]
    return "/".join(place)


def _decode(content: bytes) -> str:
    """Decode as in the working tree; invalid UTF-8 differs from any text there."""
    return file_text(content, "replace")


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """The files of one state of a repository, by path from its root."""

    ids: Mapping[str, str]  # mode and object id, or UNKNOWN
    folders: frozenset[str] = field(default=frozenset())  # with a file below them

    def digest(self, matches: Callable[[str], bool], names: Iterable[str] = ()) -> str | None:
        """Return a digest of the files that match, are named, or are below a named folder.

        None: one of them cannot be read.
        """
        known = {name for name in names if name in self.ids or name in self.folders}
        chosen = {
            path: found
            for path, found in self.ids.items()
            if matches(path) or path in known or not known.isdisjoint(_above(path))
        }
        if UNKNOWN in chosen.values():
            return None
        lines = "".join(f"{found} {path}\0" for path, found in sorted(chosen.items()))
        return hashlib.sha256(lines.encode("utf-8", "surrogateescape")).hexdigest()


def tree_contents(entries: Mapping[str, Entry]) -> Contents:
    """Return the files of a commit's tree."""
    return _contents({path: f"{each.mode} {each.object_id}" for path, each in entries.items()})


def disk_contents(repository: Repository, outputs: Iterable[str]) -> Contents:
    """Return the files on disk that git does not ignore.

    Those below the output folders and reports of earlier runs are left out.
    """
    written = tuple(f"{folder}/" for folder in outputs)
    head = plumbing.commit(repository, "HEAD")
    if head is None:
        return Contents(ids={"": UNKNOWN})
    ids = dict(tree_contents(plumbing.tree(repository, "HEAD")).ids)
    sha1 = len(head) == 40
    new = without_reports(repository.root, plumbing.untracked(repository))
    for change in plumbing.changes(repository, "HEAD", new):
        if change.new_mode == ABSENT:
            ids.pop(change.path, None)
        elif not change.path.startswith(written):
            ids[change.path] = _id(repository.root / change.path, change.new_mode, sha1=sha1)
    return _contents(ids)


def _contents(ids: Mapping[str, str]) -> Contents:
    return Contents(ids=ids, folders=frozenset(name for path in ids for name in _above(path)))


def _above(path: str) -> Iterator[str]:
    """Yield the folders of a path, the nearest first, without the root."""
    while path := dirname(path):
        yield path


def _id(path: Path, mode: str, *, sha1: bool) -> str:
    if mode == SUBMODULE:
        return UNKNOWN
    try:
        link = mode == SYMLINK
        data = os.fsencode(path.readlink()) if link else file_io.read_own(path, shown=path)
    except (OSError, CannotReadFile):
        return UNKNOWN
    digest = hashlib.sha1(usedforsecurity=False) if sha1 else hashlib.sha256()
    digest.update(b"blob %d\0" % len(data) + data)
    return f"{mode} {digest.hexdigest()}"


_NAMES: Final = frozenset((*REPORT_FILES.values(), FAILURE, LAST_FAILED, PROBE))
_TOOL: Final = b'"tool": "rubric-ci '


def without_reports(root: Path, untracked: Iterable[str]) -> tuple[str, ...]:
    """Leave out the files that a run wrote next to its `report.json`."""
    paths = tuple(untracked)
    reports = (path for path in paths if basename(path) == REPORT_FILES["json"])
    folders = {dirname(path) for path in reports if _is_own(root / path)}
    return tuple(path for path in paths if not _is_written(path, folders)) if folders else paths


def _is_written(path: str, folders: set[str]) -> bool:
    folder, name = dirname(path), basename(path)
    if folder in folders:
        return name in _NAMES
    return basename(folder) == COPIES and dirname(folder) in folders


def _is_own(path: Path) -> bool:
    try:
        return any(_TOOL in line for line in islice(file_io.read_lines(path, 100), 5))
    except CannotReadFile:
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A stranger's commit on top of the commit of the checkout."""

    base: str  # the commit of the checkout
    commit: str
    then: Snapshot  # of the checkout's commit
    now: Snapshot  # with the changed files, without submodules and what is too large
    changes: tuple[Change, ...]


def open_proposal(repository: Repository, revision: str) -> Proposal:
    """Return the files of a revision on top of the checkout.

    Raises CannotFindRevision if it is not in the clone, CannotConfigure if the checkout has it.
    """
    base, commit = plumbing.commit(repository, "HEAD"), plumbing.commit(repository, revision)
    if base is None or commit is None:
        raise CannotFindRevision(
            f"--untrusted: `{revision}` is not in this clone",
            "fetch it first: git fetch origin pull/NUMBER/head",
        )
    fork = plumbing.merge_base(repository, base, commit)
    if fork == commit:
        raise CannotConfigure(
            f"--untrusted: the checkout already has `{revision}`",
            "check out the base branch; only its files are trusted",
        )
    was, head = plumbing.tree(repository, base), plumbing.tree(repository, commit)
    changed = set(_differing(plumbing.tree(repository, fork) if fork else was, head))
    merged = {path: entry for path, entry in was.items() if path not in changed}
    merged |= {path: head[path] for path in changed & head.keys()}
    large = plumbing.large_blobs(repository, commit, MAX_BYTES)
    readable = {
        path: entry
        for path, entry in sorted(merged.items())
        if entry.mode != SUBMODULE and entry.object_id not in large
    }
    return Proposal(
        base=base,
        commit=commit,
        then=committed_files(repository, was),
        now=committed_files(repository, readable),
        changes=tuple(_changes(was, merged)),
    )


def _differing(before: Mapping[str, Entry], after: Mapping[str, Entry]) -> Iterator[str]:
    return (path for path in {**before, **after} if before.get(path) != after.get(path))


def _changes(before: Mapping[str, Entry], after: Mapping[str, Entry]) -> Iterator[Change]:
    for path in sorted(_differing(before, after)):
        old, new = before.get(path), after.get(path)
        yield Change(
            path=path, old_mode=old.mode if old else ABSENT, new_mode=new.mode if new else ABSENT
        )
