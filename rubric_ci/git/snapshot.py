"""The files of a commit, found as in a working tree.

Links are followed, but never out of the repository. A file that is the same in the working tree
is read there, so that line endings and filters do not make it look changed.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from posixpath import dirname

from rubric_ci.errors import CannotReadFile
from rubric_ci.git import plumbing
from rubric_ci.git.process import Repository
from rubric_ci.model.changes import SUBMODULE, SYMLINK, Entry
from rubric_ci.model.dataclass import dataclass
from rubric_ci.model.references import Found, Lookup, NotFound, file_text
from rubric_ci.system import confined
from rubric_ci.text.globs import matcher

MAX_LINKS = 40


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
        """Return the text of a file, or None if there was no such file."""
        content = self.read(path)
        return None if content is None else _decode(content)

    def lookup(self, eval_path: str) -> Lookup:
        """Resolve references against the eval file's folder, then each folder above it."""

        def resolve(reference: str) -> Found | NotFound:
            folders = [""] if reference.startswith("/") else _upwards(eval_path)
            for folder in folders:
                found = follow(f"{folder}/{reference}", self.link)
                content = None if found is None else self._content(found)
                if found is not None and content is not None:
                    return Found(found, _decode(content))
            return NotFound("no such file")

        return resolve

    def matching(self, glob: str) -> list[str]:
        """Return the files that match a glob from the root, without hidden folders."""
        fits = matcher([glob])
        return [path for path in self.entries if fits(path) and "/." not in f"/{dirname(path)}"]

    def link(self, path: str) -> str | None:
        """Return the destination of a link; None: it is none."""
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
        for folder in _upwards(path):
            entry = self.entries.get(folder)
            if entry is not None and entry.mode == SUBMODULE:
                if folder in self.changed:
                    return f"{path} as of {entry.object_id}".encode()
                return self._content_on_disk(path)
        return None

    def _content_on_disk(self, path: str) -> bytes | None:
        """Return the content in the working tree; a link of a submodule may lead out of it."""
        try:
            return confined.read_named(self.root / path, self.root)
        except CannotReadFile:
            return None


def open_commit(repository: Repository, commit: str) -> Snapshot:
    """Return the files of a commit, each read from git's objects and none from the working tree."""
    return of_objects(repository, plumbing.tree(repository, commit))


def of_objects(repository: Repository, entries: Mapping[str, Entry]) -> Snapshot:
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
            elif target.startswith("/") or (links := links + 1) > MAX_LINKS:
                return None
            else:
                rest = [*target.split("/"), *rest]
    return "/".join(place)


def _upwards(path: str) -> Iterator[str]:
    """Yield the folder of a path, then each folder above it, the root ("") last."""
    while path:
        path = dirname(path)
        yield path


def _decode(content: bytes) -> str:
    """Decode as in the working tree; invalid UTF-8 differs from any text there."""
    return file_text(content, "replace")
