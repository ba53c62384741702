"""The folders that are the top of a git repository: git's own rule, without a start of git.

An empty `.git` is not a repository, nor is one that another user left in a shared folder: any user
of a machine can create one in the folder of temporary files.
"""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

GIT: Final = ".git"
MODULES: Final = ".gitmodules"
NOT_CHECKED_OUT: Final = "the submodule `{}` is not checked out: run `git submodule update --init`"
_FOLDER: Final = re.compile(r"^[ \t]*path[ \t]*=[ \t]*(\S.*)", re.MULTILINE)
_ROOT: Final = 0  # the user who may do anything; every file's owner on Windows
_LONGEST: Final = 4_096  # bytes of a `.git` that is a file


def is_repository(folder: Path) -> bool:
    """Return True if git takes the folder for the top of a working tree."""
    path = folder / GIT
    try:
        owner, around = path.stat().st_uid, folder.stat().st_uid
        known = {_ROOT, around, os.geteuid() if hasattr(os, "geteuid") else _ROOT}
        return owner in known and _holds_objects(_git_folder(path))
    except (OSError, ValueError):
        return False


def around(folder: Path) -> Iterator[Path]:
    """Yield the repositories that a folder is in, the innermost first."""
    yield from filter(is_repository, (folder, *folder.parents))


def empty_submodule(root: Path, path: str) -> str:
    """Return the submodule that a path from the root is in, if it is not checked out, or ""."""
    try:
        listed = (root / MODULES).read_text("utf-8", errors="surrogateescape")
    except OSError:
        return ""
    folders = (found.rstrip().strip('"') for found in _FOLDER.findall(listed))
    around = next((each for each in folders if f"{path}/".startswith(f"{each}/")), "")
    return around if around and is_empty(root / around) else ""


def is_empty(folder: Path) -> bool:
    """Return True if a folder has no files, or is not there."""
    with suppress(OSError):
        return not any(folder.iterdir())
    return True


def _git_folder(path: Path) -> Path:
    """Return the folder of git's files; a worktree or a submodule names it in a file."""
    if path.is_dir():
        return path
    with path.open(encoding="utf-8", errors="surrogateescape") as file:
        name = file.read(_LONGEST).removeprefix("gitdir: ").rstrip("\r\n")
    return path.parent / name


def _holds_objects(git: Path) -> bool:
    """Return True for a head, objects and references, as git's `is_git_directory`."""
    common = git
    with suppress(FileNotFoundError):
        common = git / (git / "commondir").read_text(errors="surrogateescape").rstrip("\r\n")
    return os.path.lexists(git / "HEAD") and all(
        (common / name).is_dir() for name in ("objects", "refs")
    )
