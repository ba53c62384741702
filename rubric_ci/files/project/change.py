"""The base commits that a checkout is compared with, each found and read once, when asked for.

A pull request has two: the tip of its base branch, whose policy holds, and the merge base, which
its cases are compared with. An old merge base could hold a policy that the branch has replaced.
NOTE: `validate` imports this on pull requests, so the values of a run are imported late.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cache, cached_property, partial
from itertools import chain
from pathlib import Path
from posixpath import basename
from typing import Any, Final

from rubric_ci.errors import CannotUseGit
from rubric_ci.files.project.links import seen_through
from rubric_ci.github.actions import Event, read_event
from rubric_ci.system.actions_runner import in_other_ci, in_workflow, is_before_merge
from rubric_ci.system.git import base_revision, plumbing
from rubric_ci.system.git.process import Repository, guarded
from rubric_ci.system.git.snapshot import (
    Proposal,
    Snapshot,
    committed_files,
    follow,
    open_proposal,
    without_reports,
)
from rubric_ci.text.escape import error_line
from rubric_ci.values.changes import SYMLINK, Base, Entry, FoundBase, NoBase
from rubric_ci.values.changes import Change as PathChange
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.media import SUFFIXES

_PICTURES: Final = tuple(chain.from_iterable(SUFFIXES.values()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The paths that differ; through links, a path has several names."""

    root: Path
    entries: Mapping[str, Entry]  # of the base
    changes: tuple[PathChange, ...]
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


CHANGED_SINCE = "--changed-since"
AGAINST = "--against"


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseOptions:
    policy_from: str = ""
    changed_since: str = ""  # a revision or `auto`; empty: not given
    against: str = ""
    outputs: str = ""  # the report folder, from the root: its files are not part of a change
    paths: tuple[str, ...] = ()  # PATHS of the command
    untrusted: str = ""  # a stranger's commit, graded on top of the checkout; empty: the checkout


NO_OPTIONS = BaseOptions()


class Change:
    """The base commits of a checkout."""

    def __init__(
        self,
        root: Path,
        options: BaseOptions = NO_OPTIONS,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        """Find nothing yet: the bases are those that options and event name."""
        self.root, self.options, self._environment = root, options, environment
        self._commit = cache(partial(BaseCommit, self))
        self._since = cache(self._find_since)

    @cached_property
    def repository(self) -> Repository:
        """The repository; raises CannotUseGit if there is none."""
        opened = plumbing.open_repository(self.root, self._environment)
        return guarded(opened) if self.options.untrusted else opened

    @cached_property
    def proposal(self) -> Proposal | None:
        """The stranger's commit on top of the checkout; None: the checkout itself is graded."""
        revision = self.options.untrusted
        return open_proposal(self.repository, revision) if revision else None

    @cached_property
    def policy(self) -> FoundBase | None:
        """The base whose policy holds; None: no base is known, and none is required."""
        if self.proposal:
            return Base(commit=self.proposal.base, origin="the checkout")
        return self._policy_of_checkout()

    def _policy_of_checkout(self) -> FoundBase | None:
        if self.options.policy_from not in {"", "base"}:
            return None
        event = self._event if in_workflow(self._environment) else None
        named = self._named
        before_merge = event is not None and is_before_merge(event.name)
        branch = event is not None and event.ref != f"refs/heads/{event.default_branch}"
        guarded = branch or in_other_ci(self._environment)
        required = self.options.policy_from == "base"
        if not (required or before_merge or (guarded and named)):
            return None
        try:
            if event and before_merge:
                return base_revision.policy_base(self.repository, event.trigger)
            if named:
                return self._since(named)
            return base_revision.default_branch_base(self.repository, self._option)
        except CannotUseGit as error:
            return NoBase(reason=error_line(error))

    @cached_property
    def selection(self) -> FoundBase | None:
        """The base of `--changed-since`; None without it. For a proposal: the checkout."""
        if self.proposal:
            return self.policy
        return self._named_by(self.options.changed_since, CHANGED_SINCE)

    @cached_property
    def against(self) -> FoundBase | None:
        """The base of `--against`; None without it."""
        return self._named_by(self.options.against, AGAINST)

    @property
    def grading(self) -> Base | None:
        """The base that the grading is compared with: the policy's, else a named one."""
        bases = (self.policy, self.selection, self.against)
        return next((base for base in bases if isinstance(base, Base)), None)

    def at(self, base: Base) -> "BaseCommit":
        return self._commit(base.commit)

    @cached_property
    def untracked(self) -> Sequence[str]:
        """The files that git neither tracks nor ignores, without reports of earlier runs."""
        return without_reports(self.root, plumbing.untracked(self.repository))

    @cached_property
    def ignored(self) -> Sequence[str]:
        return plumbing.ignored(self.repository)

    @cached_property
    def left_out(self) -> Mapping[str, Entry]:
        """The files of the index that a sparse checkout leaves out; a proposal needs none."""
        marked = {} if self.proposal else plumbing.skipped(self.repository)
        return {path: of for path, of in marked.items() if not os.path.lexists(self.root / path)}

    @cached_property
    def _event(self) -> Event | None:
        return read_event(self._environment)

    @property
    def _named(self) -> str:
        """The revision that an option names; empty: none does."""
        given = (self.options.changed_since, self.options.against)
        return next((each for each in given if each not in {"", "auto"}), "")

    @property
    def _option(self) -> str:
        only_against = self.options.against and not self.options.changed_since
        return AGAINST if only_against else CHANGED_SINCE

    @cached_property
    def _event_base(self) -> FoundBase | None:
        """The base of the event; None: there is no event."""
        if self._event is None:
            return None
        return base_revision.trigger_base(self.repository, self._event.trigger)

    def _named_by(self, revision: str, option: str) -> FoundBase | None:
        """Return the base that an option names; `auto`: from the event or the branch."""
        if not revision:
            return None
        if revision != "auto":
            return self._since(revision)
        return self._event_base or base_revision.default_branch_base(self.repository, option)

    def _find_since(self, revision: str) -> FoundBase:
        option = CHANGED_SINCE if revision == self.options.changed_since else AGAINST
        return base_revision.since(self.repository, revision, option)


class BaseCommit:
    """The files of one base commit, and what differs from them."""

    def __init__(self, change: Change, commit: str) -> None:
        self.change, self._commit = change, commit
        self.last_state: Any = None  # for `state_at`, which many steps of a run ask

    @cached_property
    def entries(self) -> Mapping[str, Entry]:
        """Every file, link and submodule of the commit, by path."""
        return plumbing.tree(self.change.repository, self._commit)

    @cached_property
    def committed(self) -> Snapshot:
        """The files, each read from git's objects and none from the working tree."""
        proposal = self.change.proposal
        return proposal.then if proposal else committed_files(self.change.repository, self.entries)

    @cached_property
    def files(self) -> Snapshot:
        """The files; one that is the same in the working tree is read there.

        With a proposal, all are read from git's objects.
        """
        if self.change.proposal:
            return self.committed
        rewritten = self.difference.may_be_rewritten
        return Snapshot(
            root=self.change.root,
            entries=self.entries,
            changed=frozenset(self.entries) if rewritten else self.difference.changed,
            read_blob=self.change.repository.objects.read,
        )

    @cached_property
    def difference(self) -> Difference:
        """The paths of the working tree without the output folder, or of the proposal."""
        repository, outputs = self.change.repository, self.change.options.outputs
        if self.change.proposal:
            return proposed_difference(self.change.proposal)

        def is_output(path: str) -> bool:
            return path == outputs or path.startswith(f"{outputs}/")

        found = plumbing.changes(repository, self._commit, self.change.untracked)
        changes = tuple(each for each in found if not is_output(each.path))
        names = {path for path, entry in self.entries.items() if entry.mode == SYMLINK}
        names |= {each.path for each in changes if each.new_mode == SYMLINK}
        links = dict(_links(repository.root, names))
        return Difference(
            root=repository.root,
            entries=self.entries,
            changes=changes,
            changed_paths=frozenset(seen_through(links, [each.path for each in changes])),
            ignored=tuple(path for path in self.change.ignored if not is_output(path)),
            links=links,
        )
