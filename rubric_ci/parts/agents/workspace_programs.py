"""The programs around a workspace: git, which fills it with a commit, and the hooks of the case.

A commit of another repository comes with the history up to it or without any: what came after it is
not there, since a later commit may hold the solution.

Hooks run before all answers, before each one and after it. They start outside of the folder, and
read its path and the case as JSON on standard input. If one fails before the answer, there is none;
if one fails after it, a note says so.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from rubric_ci.errors import CannotAnswer, CannotRunScript
from rubric_ci.grading.targets.workplace import HOOK_FAILED
from rubric_ci.system import processes
from rubric_ci.system.git import process as git
from rubric_ci.system.processes import Command, describe_exit
from rubric_ci.system.scratch import remove_tree, variables
from rubric_ci.text.command_lines_and_variables import filled
from rubric_ci.values.context import RunContext
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.workspace_settings import GitSource, Hook

_GIT_SECONDS: Final = 900.0
_ANY_COMMIT: Final = ("-c", "uploadpack.allowAnySHA1InWant=true")
_AUTHOR: Final = ("-c", "user.name=workspace", "-c", "user.email=workspace@localhost")
_AT: Final = "2000-01-01T00:00:00Z"  # the same commit each time


async def check_out(source: GitSource, folder: Path, context: RunContext) -> None:
    """Fill an empty folder with a commit, on the branch `main`; raises CannotAnswer."""
    place = source.url or _on_this_machine(source.path, context.root)
    named = source.commit or source.ref
    depth = () if source.history else ("--depth=1",)

    async def run(*arguments: str) -> None:
        await _git(arguments, folder, source, context)

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
            await _git(("update-index", "--skip-worktree", "--", *names), folder, source, context)
        return
    remove_tree(folder / ".git")
    for arguments in (
        ("init", "--quiet", "--initial-branch=main"),
        ("add", "--all", "--force"),
        (*_AUTHOR, "commit", "--quiet", "--allow-empty", "--no-verify", "--message=Start"),
    ):
        await _git(arguments, folder, source, context)


def _on_this_machine(path: str, root: Path) -> str:
    """Return the place of a repository or bundle; the repository of the evals is refused."""
    place = (root / path).resolve()
    if place in (root, *root.parents):
        raise CannotAnswer(f"`git: {{path: {path}}}` is this repository; use `copy`")
    if not place.exists():
        raise CannotAnswer(f"`git: {{path: {path}}}` of the workspace does not exist; fix it")
    return str(place)


async def _git(
    arguments: tuple[str, ...], folder: Path, source: GitSource, context: RunContext
) -> None:
    dates = {"GIT_AUTHOR_DATE": _AT, "GIT_COMMITTER_DATE": _AT}
    command = Command(
        script=("git", *arguments),
        cwd=folder,
        known=context.environment,
        added={**git.QUIET, **dates},
        timeout_seconds=_GIT_SECONDS,
    )
    try:
        done = await processes.run(command)
    except CannotRunScript as error:
        raise CannotAnswer(f"the workspace has no commit {_short(source)}: {error}") from None
    if done.status != 0:
        place = source.url or source.path
        reason = describe_exit(done, "")
        raise CannotAnswer(
            f"the commit {_short(source)} of {place} cannot be checked out: {reason}"
        )


def _short(source: GitSource) -> str:
    return source.commit[:12] or source.ref


_BEFORE_ALL: Final = "__before_all__"  # in place of an id, as AgentV has it


async def run_hook(
    name: str,
    hook: Hook | None,
    work: Path,
    case: EvalCase | None,
    context: RunContext,
    *,
    run: str,
) -> str:
    """Run a command before or after an answer, or before all of them: without a case.

    Return why it failed; "" if it did not, or there is none.
    """
    if hook is None:
        return ""
    identifier = case.own_id if case else _BEFORE_ALL
    values = {"WORKSPACE": str(work), "EVAL_ID": identifier}
    facts = {  # under the names of AgentV
        "workspace_path": str(work),
        "test_id": identifier,
        "eval_run_id": run,
        "case_input": case.question if case else None,
        "case_metadata": (dict(case.metadata) or None) if case else None,
    }
    command = Command(
        script=tuple(filled(word, values) for word in hook.command),
        cwd=context.root / hook.cwd,
        known=context.environment,
        added=variables(work),
        timeout_seconds=hook.timeout_seconds,
        stdin=json.dumps(facts),
    )
    what = HOOK_FAILED.format(name)
    try:
        finished = await processes.run(command)
    except CannotRunScript as error:
        return f"{what}: {error}"
    withheld = "a hook gets no variables"
    return f"{what}: {describe_exit(finished, withheld)}" if finished.status else ""
