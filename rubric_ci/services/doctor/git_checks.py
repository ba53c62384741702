"""Checks of the repository: git, the base, the workflows and their secrets, the cache."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from rubric_ci.errors import CannotUseGit
from rubric_ci.files.project.before_init import look
from rubric_ci.grading.setup import readable_cache
from rubric_ci.services.doctor.finding import Check
from rubric_ci.system.ci_advice import command_to_set, is_public
from rubric_ci.system.git import base_revision, plumbing
from rubric_ci.values.changes import NoBase
from rubric_ci.values.command_settings import CacheOptions, RequestOptions
from rubric_ci.values.config import Config

_WORKFLOWS: Final = ".github/workflows"
_GRADES: Final = ("gate.yml@", "night.yml@", "default-branch.yml@", "command: run", "rubric-ci run")
"""The text of a workflow that grades has one of them; it needs the keys."""


def repository_checks(
    root: Path, config: Config, environment: Mapping[str, str]
) -> Iterator[Check]:
    """Yield the checks of git, the workflows and the cache."""
    yield from _git(root, environment)
    yield from _workflows(root, environment)
    options = CacheOptions()
    unread = readable_cache(RequestOptions(), options, config, environment)[1]
    about = f"cache {options.folder.as_posix()}"
    yield Check(ok=not unread, about=about, said=unread or _size(root / options.folder))


def _git(root: Path, environment: Mapping[str, str]) -> Iterator[Check]:
    try:
        repository = plumbing.open_repository(root, environment)
    except CannotUseGit as error:
        said = f"{error.message}; run `git init`"
        yield Check(ok=False, about="git", said=said)
        return
    if plumbing.is_shallow(repository):
        said = "the clone is shallow; run `git fetch --unshallow`"
        yield Check(ok=False, about="git", said=said)
        return
    found = base_revision.of_checkout(repository)
    if isinstance(found, NoBase):
        said = "no `origin/HEAD`: `--changed-since REV` names a base; after a push, run "
        said += "`git remote set-head origin --auto`"
        yield Check(ok=True, about="git base", said=said)
    else:
        yield Check(ok=True, about="git base", said=f"{found.origin} ({found.commit[:10]})")


def _workflows(root: Path, environment: Mapping[str, str]) -> Iterator[Check]:
    """Yield whether each workflow that grades passes on every variable."""
    names = look(root, environment).variables
    folder = root / _WORKFLOWS
    paths = sorted([*folder.glob("*.yml"), *folder.glob("*.yaml")])
    texts = {path: path.read_text(encoding="utf-8", errors="replace") for path in paths}
    grading = {path: text for path, text in texts.items() if _is_grading(text)}
    if not grading:
        said = "none grades; `rubric-ci init` writes them"
        yield Check(ok=True, about="workflows", said=said)
    for path, text in grading.items():
        about = f"{_WORKFLOWS}/{path.name}"
        missing = [name for name in names if name not in text]
        for name in missing:
            owner = "vars" if is_public(name) else "secrets"
            line = f"`{name}=${{{{ {owner}.{name} }}}}`"
            said = f"add {line} to `secrets: env:`, and run `{command_to_set(name)}`"
            yield Check(ok=False, about=about, said=said)
        if not missing:
            passed = f"passes on {', '.join(names)}; `gh secret list` shows which are set"
            yield Check(ok=True, about=about, said=passed if names else "needs no secret")


def _is_grading(text: str) -> bool:
    return "rubric-ci" in text and any(each in text for each in _GRADES)


def _size(folder: Path) -> str:
    files = [path for path in folder.rglob("*") if path.is_file()] if folder.is_dir() else []
    size = sum(path.stat().st_size for path in files)
    return f"{len(files):,} files, {size / 2**20:.1f} MiB" if files else "empty"
