"""The files of a checkout with those that a stranger's commit changes, all as git objects.

A file counts as changed if it differs between the commit and its merge base with the checkout; any
other is the checkout's. Nothing of the commit is checked out, fetched or run.
"""

from collections.abc import Iterator, Mapping

from rubric_ci.errors import CannotConfigure, CannotFindRevision
from rubric_ci.system.file_io import MAX_BYTES
from rubric_ci.system.git import plumbing
from rubric_ci.system.git.process import Repository
from rubric_ci.system.git.snapshot import Snapshot, committed_files
from rubric_ci.values.changes import ABSENT, SUBMODULE, Change, Entry
from rubric_ci.values.dataclass import dataclass


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
