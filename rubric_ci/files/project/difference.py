"""The difference between the working tree and a base, without reading any eval file."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import chain
from pathlib import Path
from posixpath import basename
from typing import Final

from rubric_ci.files.project.links import seen_through
from rubric_ci.system.git import plumbing
from rubric_ci.system.git.process import Repository
from rubric_ci.system.git.proposal import Proposal
from rubric_ci.system.git.snapshot import follow
from rubric_ci.values.changes import SYMLINK, Change, Entry
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.media import SUFFIXES

_PICTURES: Final = tuple(chain.from_iterable(SUFFIXES.values()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The paths that differ; through links, a path has several names."""

    root: Path
    entries: Mapping[str, Entry]  # of the base
    changes: tuple[Change, ...]
    changed_paths: frozenset[str]  # under every name that links give them
    ignored: tuple[str, ...]  # not in git, so that its base is unknown
    links: Mapping[str, str] = field(default_factory=dict)  # to the place that each leads to

    @property
    def changed(self) -> frozenset[str]:
        """The changed paths as git names them."""
        return frozenset(change.path for change in self.changes)

    def may_have_changed(self, path: str) -> bool:
        """Return True if a file changed, or is ignored by git so that its base is unknown."""
        unknown = path not in self.entries and (self.root / path).is_file()
        return unknown or path in self.changed_paths

    @property
    def pictures(self) -> frozenset[str]:
        """The changed images and documents, which a recorded answer may have."""
        return frozenset(path for path in self.changed_paths if path.lower().endswith(_PICTURES))

    @property
    def links_changed(self) -> bool:
        """Return True if a link was added, removed or changed."""
        return any(SYMLINK in (change.old_mode, change.new_mode) for change in self.changes)

    @property
    def may_be_rewritten(self) -> bool:
        """Return True if git may check out any file with other bytes than at the base."""
        return any(basename(change.path) == ".gitattributes" for change in self.changes)

    @property
    def names(self) -> frozenset[str]:
        """The name, without folder, of every file that may differ."""
        return frozenset(basename(path) for path in (*self.changed_paths, *self.ignored))


def read_difference(
    repository: Repository,
    commit: str,
    outputs: str,
    *,
    entries: Mapping[str, Entry],
    untracked: Sequence[str],
    ignored: Sequence[str],
) -> Difference:
    """Compare the working tree with a commit, except for the output folder."""

    def is_output(path: str) -> bool:
        return path == outputs or path.startswith(f"{outputs}/")

    found = plumbing.changes(repository, commit, untracked)
    changes = tuple(change for change in found if not is_output(change.path))
    names = {path for path, entry in entries.items() if entry.mode == SYMLINK}
    names |= {change.path for change in changes if change.new_mode == SYMLINK}
    links = dict(_links(repository.root, names))
    return Difference(
        root=repository.root,
        entries=entries,
        changes=changes,
        changed_paths=frozenset(seen_through(links, [change.path for change in changes])),
        ignored=tuple(path for path in ignored if not is_output(path)),
        links=links,
    )


def proposed_difference(proposal: Proposal) -> Difference:
    """Compare a stranger's commit with the checkout, both as git objects."""
    links = {
        path: place
        for files in (proposal.then, proposal.now)
        for path, entry in files.entries.items()
        if entry.mode == SYMLINK and (place := follow(path, files.link)) is not None
    }
    return Difference(
        root=proposal.then.root,
        entries=proposal.then.entries,
        changes=proposal.changes,
        changed_paths=frozenset(seen_through(links, [each.path for each in proposal.changes])),
        ignored=(),
        links=links,
    )


def _links(root: Path, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
    top = root.resolve()
    for path in paths:
        place = (root / path).resolve()
        if place.is_relative_to(top):
            yield path, place.relative_to(top).as_posix()
