"""The folder that an agent works in: a fresh copy for each trial, prepared once per run.

It has no file that grades, or that an agent would obey, and `Findings.left_out` gets their names.
No link of a copied folder leads out of it.
"""

import asyncio
import os
import shutil
import stat
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from rubric_ci.errors import CannotAnswer, CannotRunScript
from rubric_ci.files.project.working_tree import from_root
from rubric_ci.grading.targets.workplace import place as skill_place
from rubric_ci.models.agents import AGENTS
from rubric_ci.parts.agents import workspace_programs
from rubric_ci.parts.agents.grading_files import Graders
from rubric_ci.system import coroutines, processes
from rubric_ci.system.processes import Command, describe_exit
from rubric_ci.system.scratch import remove_tree, scratch_folder, variables
from rubric_ci.text.globs import matcher
from rubric_ci.values.context import RunContext
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.targets import CliTarget
from rubric_ci.values.workspace_settings import GitSource, Hook, Workspace

MOST_FILES: Final = 20_000
MOST_BYTES: Final = 512 * 2**20
_SETUP_SECONDS: Final = 900.0


@dataclass(frozen=True, slots=True)
class Folders:
    """The folders of one trial, and what the first one was before."""

    work: Path
    home: Path
    before: Path
    run: str  # a name that all trials of the prepared folder share


class Workspaces:
    def __init__(self) -> None:
        self._held = ExitStack()
        self._prepared: dict[tuple[Path, str], asyncio.Task[Path]] = {}
        self._graders: dict[Path, asyncio.Task[Graders]] = {}

    def close(self) -> None:
        self._held.close()

    @asynccontextmanager
    async def opened(
        self, case: EvalCase, target: CliTarget, context: RunContext
    ) -> AsyncIterator[Folders]:
        """Yield fresh folders, which stay until the run ends if a script looks at them.

        Raises NoVerdict.
        """
        before = await self._before(target, context)
        first = target.workspace.hooks.before_each if target.workspace else None
        with ExitStack() as held:
            folder = await asyncio.to_thread(held.enter_context, scratch_folder())
            work, home = folder / "work", folder / "home"
            home.mkdir()
            run = before.parents[1].name
            await asyncio.to_thread(_duplicate, before, work)
            if first:
                await _run_before("before_each", first, work, case, context, run)
                before = folder / "before"
                await asyncio.to_thread(_duplicate, work, before)
            yield Folders(work, home, before, run)
            if case.looks_in_workspace:
                (context.folders or self._held).push(held.pop_all())

    async def _before(self, target: CliTarget, context: RunContext) -> Path:
        key = (context.root, repr((target.workspace, target.agent, target.env, target.skill)))
        if key not in self._prepared:
            self._prepared[key] = coroutines.start_shared(self._prepare(target, context))
        return await asyncio.shield(self._prepared[key])

    async def _known(self, context: RunContext) -> Graders:
        async def found() -> Graders:
            return Graders(context.root, await _listed(context.root, context))

        if context.root not in self._graders:
            self._graders[context.root] = coroutines.start_shared(found())
        return await asyncio.shield(self._graders[context.root])

    async def _copied(
        self,
        name: str,
        folder: Path,
        target: CliTarget,
        context: RunContext,
        without: tuple[str, ...] = (),
    ) -> None:
        """Copy a folder of the repository, without what grades and the globs `without`."""
        known, source = await self._known(context), _source(name, context.root)
        names = await _listed(source, context)
        reasons = {"an agent would obey it": _planted(target), "it tests the skill": without}
        matching = {reason: matcher(globs) for reason, globs in reasons.items()}

        def why_not(name: str) -> str:
            fits = (reason for reason, matches in matching.items() if matches(name))
            return next(fits, "") or known.why(source / name)

        left = await asyncio.to_thread(_copy, source, names, folder, why_not)
        context.found.left_out.update(
            {from_root(source / n, context.root): w for n, w in left.items()}
        )

    async def _prepare(self, target: CliTarget, context: RunContext) -> Path:
        folder = self._held.enter_context(scratch_folder()) / "before"
        folder.mkdir()
        settings = target.workspace or Workspace()
        made = isinstance(settings.setup, tuple) and not (context.root / settings.copy).exists()
        if settings.copy and not settings.git and not made:
            await self._copied(settings.copy, folder, target, context)
        for source in settings.sources:
            await _checked_out(source, folder, target, context)
        if target.skill:
            own = folder / skill_place(target.skill)
            await self._copied(target.skill.path, own, target, context, without=("evals/**",))
        if settings.setup:
            trusted = target if settings.of_target else replace(target, env=())
            await _set_up(_script(settings, context.root), folder, trusted, context)
        first, run = settings.hooks.before_all, folder.parents[1].name
        await _run_before("before_all", first, folder, None, context, run)
        return folder


async def _run_before(
    name: str, hook: Hook | None, work: Path, case: EvalCase | None, context: RunContext, run: str
) -> None:
    if failed := await workspace_programs.run_hook(name, hook, work, case, context, run=run):
        raise CannotAnswer(failed)


def _duplicate(folder: Path, new: Path) -> None:
    """Copy a prepared folder; raises CannotAnswer for a socket and others that have no copy."""
    try:
        shutil.copytree(folder, new, symlinks=True)
    except shutil.Error as error:
        _, _, reason = error.args[0][0]
        why = str(reason).replace(f"{folder}{os.sep}", "")
        raise CannotAnswer(
            f"the workspace cannot be copied: {why}; remove it in the command that makes it"
        ) from None


async def _checked_out(
    source: GitSource, workspace: Path, target: CliTarget, context: RunContext
) -> None:
    """Check a commit out, without the files that grade or that an agent would obey."""
    folder = await asyncio.to_thread(_inside, workspace, source.into)
    if (folder / ".git").exists():
        raise CannotAnswer(f"`into: {source.into}` is the folder of two repositories; fix one")
    await workspace_programs.check_out(source, folder, context)
    names, is_planted = await _listed(folder, context), matcher(_planted(target))
    graders = Graders(folder, names)
    reasons = {
        n: "an agent would obey it" if is_planted(n) else graders.why(folder / n) for n in names
    }
    left_out = {name: reason for name, reason in reasons.items() if reason}
    for name in left_out:
        _remove(folder / name)
    context.found.left_out.update(
        {f"{source.url or source.path}: {n}": w for n, w in left_out.items()}
    )
    await workspace_programs.settle(source, folder, left_out, context)


def _inside(workspace: Path, name: str) -> Path:
    """Return a folder of a workspace, which is made; raises CannotAnswer for one outside."""
    folder = Path(os.path.realpath(workspace / name))
    if folder != workspace and workspace not in folder.parents:
        raise CannotAnswer(f"`into: {name}` leads out of the workspace; fix the path")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise CannotAnswer(f"`into: {name}` is a file of the workspace; fix the path") from None
    return folder


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        remove_tree(path)
    else:
        path.unlink(missing_ok=True)


def _script(settings: Workspace, root: Path) -> str | tuple[str, ...]:
    """Return the set-up; a word that leads out counts from the folder that is copied."""
    if isinstance(settings.setup, str):
        return settings.setup
    source = root / settings.copy
    return tuple(
        os.path.normpath(source / word) if word.startswith("../") else word
        for word in settings.setup
    )


def _planted(target: CliTarget) -> tuple[str, ...]:
    """Return the globs of the files that an agent would obey, unless it is meant to."""
    if target.agent is None or target.agent.project_files:
        return ()
    return AGENTS[target.agent.name].planted


def _source(name: str, root: Path) -> Path:
    source = Path(os.path.realpath(root / name))
    if source != root and root not in source.parents:
        raise CannotAnswer(f"`copy: {name}` of the workspace leads out of the repository")
    if not source.is_dir():
        raise CannotAnswer(f"`copy: {name}` of the workspace is not a folder; fix the path")
    if any(part.casefold() == ".git" for part in source.relative_to(root).parts):
        raise CannotAnswer(f"`copy: {name}` of the workspace is in `.git`; fix the path")
    return source


async def _listed(source: Path, context: RunContext) -> list[str]:
    """Return the files of a folder that git does not ignore; all of them without git."""
    files = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    try:
        listing = await processes.run(
            Command(
                script=("git", "-C", str(source), *files),
                cwd=source,
                known=context.environment,
                timeout_seconds=60,
            )
        )
    except CannotRunScript:
        return sorted(_walked(source))
    if listing.status != 0:
        return sorted(_walked(source))
    return sorted({name for name in listing.stdout.split("\0") if name})


def _walked(source: Path) -> Iterator[str]:
    for place, folders, names in os.walk(source):
        links = [name for name in folders if Path(place, name).is_symlink()]
        yield from (Path(place, n).relative_to(source).as_posix() for n in (*names, *links))


def _copy(
    source: Path, names: list[str], folder: Path, why_not: Callable[[str], str]
) -> dict[str, str]:
    """Copy the files, and return why the others were not.

    Raises CannotAnswer for a link that leads out, or too much.
    """
    left_out: dict[str, str] = {}
    size = 0
    if len(names) > MOST_FILES:
        raise CannotAnswer(f"the workspace has {len(names):,} files; at most {MOST_FILES:,}")
    for name in names:
        path, place = source / name, folder / name
        try:
            status = path.lstat()
        except OSError:
            continue  # deleted, and not yet committed
        if reason := why_not(name):
            left_out[name] = reason
            continue
        if not stat.S_ISDIR(status.st_mode):
            place.parent.mkdir(parents=True, exist_ok=True)
        if stat.S_ISLNK(status.st_mode):
            _check_link(path, source)
            _link(place, path.readlink())
        elif stat.S_ISREG(status.st_mode):
            size += status.st_size
            if size > MOST_BYTES:
                raise CannotAnswer(f"the workspace has more than {MOST_BYTES // 2**20} MiB")
            shutil.copy2(path, place)
        elif stat.S_ISDIR(status.st_mode):
            left_out[name.rstrip("/")] = "it is a git repository of its own; use `repos`"
        else:
            left_out[name] = "it is no regular file"
    return left_out


def _link(place: Path, to: Path) -> None:
    try:
        place.symlink_to(to)
    except OSError as error:  # Windows grants it to administrators, and in Developer Mode
        raise CannotAnswer(
            f"the link {place.name} cannot be made in the workspace: {error.strerror}; remove it, "
            "or on Windows turn on Developer Mode"
        ) from None


def _check_link(path: Path, source: Path) -> None:
    to = Path(os.path.realpath(path))
    if path.readlink().is_absolute() or (to != source and source not in to.parents):
        raise CannotAnswer(f"the link {path.name} leads out of the workspace; remove it")


async def _set_up(
    script: str | tuple[str, ...], folder: Path, target: CliTarget, context: RunContext
) -> None:
    finished = await processes.run(
        Command(
            script=script,
            cwd=folder,
            known=context.environment,
            env=target.env,
            added={**variables(folder), "AGENTV_ENVIRONMENT_WORKDIR": str(folder)},
            timeout_seconds=_SETUP_SECONDS,
        )
    )
    if finished.status != 0:
        own = target.workspace is None or target.workspace.of_target
        why = "not listed in `env`" if own else "the `setup` of an eval file gets no variables"
        raise CannotAnswer(
            f"`setup` of the workspace of the target `{target.name}` failed: "
            f"{describe_exit(finished, why)}"
        )
