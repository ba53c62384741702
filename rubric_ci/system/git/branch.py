"""Commit to the branch of a checkout, with the git command."""

from collections.abc import Sequence
from dataclasses import replace

from rubric_ci.errors import CannotCommit, CannotFindRevision
from rubric_ci.system.git import plumbing, process
from rubric_ci.system.git.process import Repository

BOT = (
    ("NAME", "github-actions[bot]"),
    ("EMAIL", "41898282+github-actions[bot]@users.noreply.github.com"),
)
_UNFINISHED = {
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "REBASE_HEAD": "rebase",
}


def current(repository: Repository) -> str | None:
    """Return the branch that is checked out; None for a detached HEAD."""
    done = process.run(repository, "symbolic-ref", "--quiet", "--short", "HEAD")
    return done.stdout.decode().strip() if done.returncode == 0 else None


def default(repository: Repository) -> str | None:
    """Return the remote's default branch, as far as this clone knows it."""
    done = process.run(repository, "symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD")
    return done.stdout.decode().strip().removeprefix("origin/") if done.returncode == 0 else None


def check(
    repository: Repository, paths: Sequence[str], *, fixup: str = "", default_branch: str = ""
) -> None:
    """Raise CannotCommit unless these files can be committed to a branch that is not the default.

    `default_branch` comes from the event, if known; a clone may not know it.
    """
    name = current(repository)
    if name is None:
        raise CannotCommit(
            "--commit: the checkout is not on a branch (detached HEAD)",
            "Switch to a branch: git switch -c rubrics",
        )
    if name in {default_branch, default(repository)}:
        raise CannotCommit(
            f"--commit: `{name}` is the default branch; rubric-ci does not commit to it",
            "Switch to another branch: git switch -c rubrics",
        )
    if plumbing.commit(repository, "HEAD") is None:
        raise CannotCommit("--commit: the repository has no commit yet", "Make a first commit.")
    for ref, what in _UNFINISHED.items():
        if plumbing.commit(repository, ref) is not None:
            raise CannotCommit(
                f"--commit: a {what} is not finished", f"Finish or abort the {what}."
            )
    _check_fixup_target(repository, fixup)
    check_clean(repository, paths)


def check_clean(repository: Repository, paths: Sequence[str]) -> None:
    """Raise CannotCommit if a commit of these files would include other changes."""
    changed = {change.path for change in plumbing.changes(repository, "HEAD")}
    listing = process.query(repository, "--literal-pathspecs", "ls-files", "-z", "--", *paths)
    tracked = set(listing.split("\0")) if paths else set()
    dirty = [path for path in paths if path in changed or path not in tracked]
    if dirty:
        raise CannotCommit(
            f"--commit: modified or untracked: {', '.join(dirty)}",
            "Commit or stash these changes first, or leave out --commit.",
        )


def commit(
    repository: Repository,
    paths: Sequence[str],
    message: str,
    *,
    fixup: str = "",
    as_bot: bool = False,
) -> str:
    """Commit these files as they are in the working tree, and nothing else; return the id.

    `as_bot` commits as GitHub's bot unless an identity is configured.
    """
    identified = _identified(repository) if as_bot else repository
    how = (f"--fixup={fixup}",) if fixup else ()
    command = ("commit", "--quiet", "--only", *how, "--message", message, "--", *paths)
    done = process.run(identified, "--literal-pathspecs", *command)
    if done.returncode != 0:
        error = done.stderr.decode("utf-8", "replace").strip() or "a hook or git refused"
        raise CannotCommit(
            f"--commit: git commit failed: {error}",
            "The files are changed but not committed: fix this, then commit them.",
        )
    return process.query(repository, "rev-parse", "HEAD")


def _check_fixup_target(repository: Repository, revision: str) -> None:
    if not revision:
        return
    found = plumbing.commit(repository, revision)
    if found is None:
        raise CannotFindRevision(f"--fixup: there is no revision `{revision}` here")
    if plumbing.merge_base(repository, found, "HEAD") != found:
        raise CannotFindRevision(
            f"--fixup: `{revision}` is not in the history of this branch",
            "Name a commit of this branch, such as HEAD~1.",
        )


def _identified(repository: Repository) -> Repository:
    """Return the repository with the identity of GitHub's bot where none is configured."""
    if process.run(repository, "config", "user.email").returncode == 0:
        return repository
    environment = repository.environment
    bot = {f"GIT_{who}_{what}": text for who in ("AUTHOR", "COMMITTER") for what, text in BOT}
    return replace(repository, environment={**bot, **environment})
