"""The eval files that a search of a commit finds, by the globs of its own configuration.

It follows the search of a working tree (`discovery.py`), with names and contents from git.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from posixpath import basename, splitext

from rubric_ci.git.snapshot import Snapshot, follow
from rubric_ci.model.git_changes import SUBMODULE, SYMLINK
from rubric_ci.project import discovery
from rubric_ci.project.eval_content import (
    lines_hold_cases,
    lines_may_hold_cases,
    yaml_holds_cases,
)
from rubric_ci.project.file_names import CONFIG_NAMES, TARGETS_NAMES
from rubric_ci.project.links import seen_through
from rubric_ci.project.project import Project
from rubric_ci.text.globs import matcher


class BaseSearch:
    """A search of the eval files of a commit."""

    def __init__(self, project: Project, files: Snapshot) -> None:
        """Search `files` with the globs of `project`, which reads them."""
        self._files, self._root = files, files.root
        self._names = _names(files)
        self._globs = [
            f"{'!' * glob.startswith('!')}{glob.removeprefix('!').lstrip('/')}"
            for glob in project.summary.globs
        ]
        self._configured = matcher(self._globs)

    def find(self, paths: Sequence[str], graded: Callable[[str], bool]) -> Iterator[str]:
        """Yield the files of PATHS, or of the globs; those that are `graded` are left out."""
        if not paths and self._globs:
            found = filter(self._configured, self._names)
            yield from self._new(found, graded, self._may_hold)
            return
        for path in paths or [discovery.HERE]:
            place = discovery.from_root(Path(path), self._root)
            if place in self._names:
                yield from self._new([place], graded, lambda _: True)
            elif any(sign in path for sign in "*?["):
                found = filter(matcher([place]), self._names)
                yield from self._new(found, graded, self._may_hold)
            else:
                yield from self._new(self._below(place), graded, self._holds)

    def _new(
        self, found: Iterable[str], graded: Callable[[str], bool], holds: Callable[[str], bool]
    ) -> Iterator[str]:
        """Yield the names without links of files that hold cases and are not graded."""
        for name in found:
            real = self._names[name]
            if not graded(real) and holds(name):
                yield real

    def _below(self, folder: str) -> Iterator[str]:
        start = "" if folder in {"", discovery.HERE} else f"{folder}/"
        for name in self._names:
            if name.startswith(start) and name.endswith(discovery.SUFFIXES):
                folders = name[len(start) :].split("/")[:-1]
                if all(map(discovery.is_searched, folders)):
                    yield name

    def _holds(self, name: str) -> bool:
        if discovery.is_named_eval(name) or self._configured(name):
            return True
        data = self._files.read(name) or b""
        return lines_hold_cases(data) if name.endswith(".jsonl") else yaml_holds_cases(data)

    def _may_hold(self, name: str) -> bool:
        if basename(name) in (*CONFIG_NAMES, *TARGETS_NAMES):
            return False
        if name.endswith(".jsonl"):
            return lines_may_hold_cases(self._files.read(name) or b"")
        stem, suffix = splitext(name)
        is_sidecar = suffix == ".yaml" and f"{stem}.jsonl" in self._names
        return not is_sidecar or yaml_holds_cases(self._files.read(name) or b"")


def _names(files: Snapshot) -> Mapping[str, str]:
    """Return the name of each file, and the names that links give it, each to the first."""
    links: dict[str, str] = {}
    real: dict[str, str] = {}
    for path, entry in files.entries.items():
        if entry.mode == SYMLINK:
            place = follow(path, files.link)
            if place is not None:
                links[path] = place
        elif entry.mode != SUBMODULE:
            real[path] = path
    if links:
        for name in seen_through(links, real):
            place = follow(name, files.link)
            if place in real:
                real.setdefault(name, place)
    return real
