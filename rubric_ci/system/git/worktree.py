"""A detached worktree of a commit in a temporary folder, removed afterwards.

Its owner holds a lock on a file next to it. A worktree whose lock is free was left by a killed
process, and the next one removes it.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from typing import Final

from rubric_ci.errors import CannotUseGit
from rubric_ci.system.git import process
from rubric_ci.system.git.process import Repository
from rubric_ci.system.scratch import hold, is_free, remove_what_can_be

PREFIX: Final = "rubric-ci-base-"
TREE: Final = "tree"
LOCK: Final = "lock"


class Worktree:
    """The worktree of a commit, created when it is first needed."""

    def __init__(self, repository: Repository, commit: str, held: ExitStack) -> None:
        self._repository, self._commit, self._held = repository, commit, held
        self._root: Path | None = None

    def root(self) -> Path:
        """Return the folder that the repository was opened at, as of the commit."""
        if self._root is None:
            tree = self._held.enter_context(_added(self._repository, self._commit))
            self._root = tree / self._repository.prefix
        return self._root


@contextmanager
def worktree(repository: Repository, commit: str) -> Iterator[Worktree]:
    """Remove what killed processes left, and yield a worktree that is removed at the end."""
    remove_abandoned(repository)
    with ExitStack() as held:
        yield Worktree(repository, commit, held)


def remove_abandoned(repository: Repository) -> None:
    """Remove the worktrees of processes that were killed."""
    if repository.common and not (repository.common / "worktrees").is_dir():
        return  # there is none, as git keeps the names of worktrees there
    listing = process.query(repository, "worktree", "list", "--porcelain", "-z")
    for line in listing.split("\0"):
        key, _, path = line.partition(" ")
        tree = Path(path)
        ours = key == "worktree" and tree.name == TREE and tree.parent.name.startswith(PREFIX)
        if ours and is_free(tree.parent / LOCK):
            _remove(repository, tree)


@contextmanager
def _added(repository: Repository, commit: str) -> Iterator[Path]:
    folder = Path(mkdtemp(prefix=PREFIX, dir=Path(gettempdir()).resolve()))
    tree = folder / TREE
    try:
        with hold(folder / LOCK):
            # NOTE: a hook of the user must not run for a checkout that the user did not ask for.
            quiet = ("-c", f"core.hooksPath={os.devnull}", "-c", "advice.detachedHead=false")
            process.query(repository, *quiet, "worktree", "add", "--detach", str(tree), commit)
            yield tree
    finally:
        _remove(repository, tree)


def _remove(repository: Repository, tree: Path) -> None:
    with suppress(CannotUseGit):  # a worktree that was not added is not known to git
        process.query(repository, "worktree", "remove", "--force", "--force", str(tree))
    remove_what_can_be(tree.parent)
