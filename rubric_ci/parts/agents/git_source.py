"""A commit of another git repository as workspace, with the history up to it or without any.

What came after the commit is not there: a later commit may hold the solution.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from rubric_ci.errors import CannotAnswer, CannotRunScript
from rubric_ci.system import processes
from rubric_ci.system.git import process as git
from rubric_ci.system.processes import Command, clean_environment, describe_exit
from rubric_ci.system.removal import remove_tree
from rubric_ci.values.context import RunContext
from rubric_ci.values.workspace_settings import GitSource

_SECONDS: Final = 900.0
_ANY_COMMIT: Final = ("-c", "uploadpack.allowAnySHA1InWant=true")
_AUTHOR: Final = ("-c", "user.name=workspace", "-c", "user.email=workspace@localhost")
_AT: Final = "2000-01-01T00:00:00Z"  # the same commit each time


async def check_out(source: GitSource, folder: Path, context: RunContext) -> None:
    """Fill an empty folder with a commit, on the branch `main`; raises CannotAnswer."""
    place = source.url or _on_this_machine(source.path, context.root)
    named = source.commit or source.ref
    depth = () if source.history else ("--depth=1",)

    async def run(*arguments: str) -> None:
        await _run(arguments, folder, source, context)

    await run("init", "--quiet", "--initial-branch=main")
    await run(*_ANY_COMMIT, "fetch", "--quiet", "--no-tags", *depth, "--", place, named)
    await run("-c", "advice.detachedHead=false", "checkout", "--quiet", "-B", "main", "FETCH_HEAD")
    (folder / ".git" / "FETCH_HEAD").unlink(missing_ok=True)


async def settle(
    source: GitSource, folder: Path, left_out: Iterable[str], context: RunContext
) -> None:
    """Make what was removed no change; without history, begin one with what the folder holds."""
    if source.history:
        if names := tuple(left_out):
            await _run(("update-index", "--skip-worktree", "--", *names), folder, source, context)
        return
    remove_tree(folder / ".git")
    for arguments in (
        ("init", "--quiet", "--initial-branch=main"),
        ("add", "--all", "--force"),
        (*_AUTHOR, "commit", "--quiet", "--allow-empty", "--no-verify", "--message=Start"),
    ):
        await _run(arguments, folder, source, context)


def _on_this_machine(path: str, root: Path) -> str:
    """Return the place of a repository or bundle; the repository of the evals is refused."""
    place = (root / path).resolve()
    if place in (root, *root.parents):
        raise CannotAnswer(f"`git: {{path: {path}}}` is this repository; use `copy`")
    if not place.exists():
        raise CannotAnswer(f"`git: {{path: {path}}}` of the workspace does not exist; fix it")
    return str(place)


async def _run(
    arguments: tuple[str, ...], folder: Path, source: GitSource, context: RunContext
) -> None:
    dates = {"GIT_AUTHOR_DATE": _AT, "GIT_COMMITTER_DATE": _AT}
    command = Command(
        script=("git", *arguments),
        cwd=folder,
        environment={**clean_environment(context.environment), **git.QUIET, **dates},
        timeout_seconds=_SECONDS,
    )
    try:
        done = await processes.run(command)
    except CannotRunScript as error:
        raise CannotAnswer(f"the workspace has no commit {_short(source)}: {error}") from None
    if done.status != 0:
        place = source.url or source.path
        reason = describe_exit(done)
        raise CannotAnswer(
            f"the commit {_short(source)} of {place} cannot be checked out: {reason}"
        )


def _short(source: GitSource) -> str:
    return source.commit[:12] or source.ref
