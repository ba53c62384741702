"""The digest of the files that an answer depends on, of one state of the repository."""

from collections.abc import Callable, Iterable
from functools import cache

from rubric_ci.errors import CannotUseGit
from rubric_ci.git import snapshot
from rubric_ci.git.snapshot import Contents
from rubric_ci.model.config import Target
from rubric_ci.model.context import Dependencies
from rubric_ci.model.evals import EvalCase
from rubric_ci.project.change import Change
from rubric_ci.selection.dependencies import command_files, depends_on_everything
from rubric_ci.text.globs import matcher


def of_working_tree(change: Change, outputs: Iterable[str]) -> Dependencies:
    """Return the digests of the checkout, which is read when the first one is asked for."""

    def read() -> Contents | None:
        try:
            return snapshot.of_working_tree(change.repository, outputs)
        except CannotUseGit:
            return None  # without git, answers that depend on files are not cached

    return of(read)


def of(read: Callable[[], Contents | None]) -> Dependencies:
    """Return the digests of the files that `read` returns; it is called once, or never.

    A target without `depends_on` that depends on every file has the digest of all of them. Files
    that a command names or gets count as if they were listed.
    """
    known = cache(read)

    @cache
    def of_files(globs: tuple[str, ...] | None, names: tuple[str, ...]) -> str | None:
        found = known()
        matches = (lambda _: True) if globs is None else matcher(globs)
        return None if found is None else found.digest(matches, names)

    def digest(case: EvalCase, target: Target) -> str | None:
        if depends_on_everything(target):
            return of_files(None, ())
        globs = (*case.depends_on, *(target.depends_on or ()))
        names = tuple(dict.fromkeys(command_files(case, target)))
        return of_files(globs, names) if globs or names else ""

    return digest
