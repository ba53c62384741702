"""The files of a folder that came with a commit: a change can bring those, and only those; effects.

A folder is judged by its real path, in every repository around it: a link, a submodule or a
repository inside the folder hides nothing. A checkout without git could hide all.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from rubric_ci.errors import CannotUseGit
from rubric_ci.system.git import process
from rubric_ci.system.git.process import Repository
from rubric_ci.system.repository import around, is_repository
from rubric_ci.text.escape import DIRTY


def first_tracked(folder: Path, environment: Mapping[str, str]) -> str | None:
    """Return a file of the folder, or a link on the way to it, that git tracks; None: no such file.

    The path is relative to its repository. Raises CannotUseGit if git cannot be asked, also where
    a runner's workspace has no repository.
    """
    _check_repository(folder, environment)
    for place in _places(folder):
        for root in _repositories(place):
            path = place.relative_to(root).as_posix()
            known = process.environment_at(root, environment)
            # NOTE: file systems of macOS and Windows open a/b where a commit holds A/B.
            named = ("ls-files", "-z", "--", f":(icase,literal){path}")
            listing = process.query(Repository(root=root, environment=known), *named)
            if tracked := listing.partition("\0")[0]:
                return tracked
    return None


def checkout_commit(environment: Mapping[str, str]) -> str:
    """Return the commit of the checkout that rubric-ci runs from; empty: it is installed."""
    root = Path(__file__).parents[3]
    return head_of(root, environment).removesuffix(DIRTY) if is_repository(root) else ""


def head_of(folder: Path, environment: Mapping[str, str]) -> str:
    """Return the commit of the working tree, with DIRTY if tracked files differ; empty: none."""
    status = ("status", "--porcelain=v2", "--branch", "--untracked-files=no")
    with suppress(CannotUseGit):
        known = process.environment_at(folder, environment)
        found = process.run(Repository(root=folder, environment=known), *status).stdout
        first, *lines = process.stripped(found).splitlines() or [""]
        commit = first.removeprefix("# branch.oid ")
        changed = any(not line.startswith("#") for line in lines)
        return commit + DIRTY * changed if commit.isalnum() else ""  # "(initial)" is none
    return ""


def _check_repository(folder: Path, environment: Mapping[str, str]) -> None:
    """Raise CannotUseGit for files in a runner's workspace outside of every repository.

    NOTE: actions/checkout downloads an archive where git is not installed, as in slim images.
    """
    real, top = _real(folder), environment.get("GITHUB_WORKSPACE", "")
    if not top or not folder.exists() or any(_repositories(real)):
        return
    if real.is_relative_to(_real(Path(top))):
        raise CannotUseGit("the workspace has no git, which hides the files of its commit")


def _places(folder: Path) -> Iterator[Path]:
    """Yield the real folder, then each link on the way to it: who commits a link chooses it."""
    yield _real(folder)
    ways, seen = [folder.absolute()], set[Path]()
    for way in ways:
        for link in filter(Path.is_symlink, (way, *way.parents)):
            place = _real(link.parent) / link.name
            if place not in seen:
                seen.add(place)
                ways.append(place.parent / link.readlink())
                yield place


def _real(path: Path) -> Path:
    """Return the path without links; `Path.resolve` raises RuntimeError for a loop of them."""
    return Path(os.path.realpath(path))


def _repositories(place: Path) -> Iterator[Path]:
    return (folder for folder in around(place) if not folder.is_symlink())
