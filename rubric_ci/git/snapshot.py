"""The files of a commit, found the way a working tree would find them; effects.

Links are followed, and never out of the repository. A file that is the same in the working tree
is read there, so that line endings and filters cannot make it look changed.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from posixpath import dirname

from rubric_ci.git.plumbing import ReadBlob
from rubric_ci.model.git_changes import SUBMODULE, SYMLINK, Entry
from rubric_ci.model.references import Found, Lookup, NotFound

MAX_LINKS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What stood where."""

    root: Path
    entries: Mapping[str, Entry]
    changed: frozenset[str]  # paths that differ from the working tree
    read: ReadBlob

    def text(self, path: str) -> str | None:
        """Return the text of a file, or nothing if there was none."""
        found = follow(path, self._link)
        return None if found is None else self._text(found)

    def lookup(self, eval_path: str) -> Lookup:
        """Resolve references against the eval file's folder, then each folder above it."""

        def resolve(reference: str) -> Found | NotFound:
            folders = [""] if reference.startswith("/") else _upwards(eval_path)
            for folder in folders:
                found = follow(f"{folder}/{reference}", self._link)
                text = None if found is None else self._text(found)
                if found is not None and text is not None:
                    return Found(found, text)
            return NotFound("no such file")

        return resolve

    def _link(self, path: str) -> str | None:
        entry = self.entries.get(path)
        if entry is None or entry.mode != SYMLINK:
            return None
        return self.read(entry.object_id).decode("utf-8", "surrogateescape")

    def _text(self, path: str) -> str | None:
        entry = self.entries.get(path)
        if entry is None:
            return self._text_in_submodule(path)
        if entry.mode == SUBMODULE:
            return None
        same = path not in self.changed
        content = (self.root / path).read_bytes() if same else self.read(entry.object_id)
        return _decode(content)

    def _text_in_submodule(self, path: str) -> str | None:
        """Say which commit of a changed submodule it was: its objects may not be here."""
        for folder in _upwards(path):
            entry = self.entries.get(folder)
            if entry is not None and entry.mode == SUBMODULE:
                if folder in self.changed:
                    return f"{path} as of {entry.object_id}"
                inside = self.root / path
                return _decode(inside.read_bytes()) if inside.is_file() else None
        return None


def follow(path: str, link: Callable[[str], str | None]) -> str | None:
    """Resolve `..` and links as a file system does; nothing if it leads outside, or in circles."""
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
    """Give the folder of a path, then each folder above it, the root ("") last."""
    while path:
        path = dirname(path)
        yield path


def _decode(content: bytes) -> str:
    """Read as the working tree's files are read; what is no UTF-8 differs from any text there."""
    return content.decode("utf-8-sig", "replace")
