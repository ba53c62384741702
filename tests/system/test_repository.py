"""What is a repository, against git itself: both must say the same of each folder."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rubric_ci.system.repository import around, is_repository
from tests import platforms
from tests.checkout import ENVIRONMENT, Checkout


def own(folder: Path) -> Path:
    return Checkout.create(folder).root


def without(name: str) -> Callable[[Path], Path]:
    def made(folder: Path) -> Path:
        own(folder)
        path = folder / ".git" / name
        path.rename(folder / "away")
        return folder

    return made


def empty(folder: Path) -> Path:
    (folder / ".git").mkdir(parents=True)
    return folder


def file(text: str) -> Callable[[Path], Path]:
    def made(folder: Path) -> Path:
        folder.mkdir()
        (folder / ".git").write_text(text)
        return folder

    return made


def worktree(folder: Path) -> Path:
    main = Checkout.create(folder.parent / "main")
    main.commit({"a": ""})
    main.git("worktree", "add", "--quiet", str(folder))
    return folder


def submodule(folder: Path) -> Path:
    inner = Checkout.create(folder.parent / "inner")
    inner.commit({"a": ""})
    outer = Checkout.create(folder)
    outer.git("submodule", "--quiet", "add", inner.root.as_uri(), "sub")
    return folder / "sub"


def link(folder: Path) -> Path:
    own(folder.parent / "real")
    folder.mkdir()
    platforms.symlink(folder / ".git", folder.parent / "real" / ".git")
    return folder


def nothing(folder: Path) -> Path:
    folder.mkdir()
    return folder


FOLDERS = {
    "a repository": (own, True),
    "a worktree": (worktree, True),
    "a submodule": (submodule, True),
    "a link to a repository": (link, True),
    "an empty folder": (empty, False),
    "no head": (without("HEAD"), False),
    "no objects": (without("objects"), False),
    "no references": (without("refs"), False),
    "an empty file": (file(""), False),
    "a file that leads nowhere": (file("gitdir: ../nowhere\n"), False),
    "a file that holds NUL": (file("gitdir: a\0b\n"), False),
    "a long file": (file("gitdir: " + "a/" * 100_000), False),
    "no .git": (nothing, False),
}


@pytest.mark.parametrize(("make", "expected"), FOLDERS.values(), ids=FOLDERS)
def test_git_says_the_same(make: Callable[[Path], Path], expected: bool, tmp_path: Path) -> None:
    folder = make(tmp_path / "folder")
    environment = ENVIRONMENT | {"GIT_CEILING_DIRECTORIES": str(folder.parent)}
    asked = subprocess.run(
        ["git", "rev-parse", "--show-toplevel"],
        cwd=folder,
        env=environment,
        capture_output=True,
        check=False,
    )
    assert (is_repository(folder), asked.returncode == 0) == (expected, expected)


@platforms.MODES
def test_one_of_another_user(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root gives files away")
    own(tmp_path)
    for path in [tmp_path / ".git", *(tmp_path / ".git").rglob("*")]:
        os.chown(path, 4_321, 4_321)
    assert not is_repository(tmp_path)
    os.chown(tmp_path, 4_321, 4_321)  # a checkout of another user, as in a container
    assert is_repository(tmp_path)


def test_repositories_around_a_folder(tmp_path: Path) -> None:
    own(tmp_path / "a")
    empty(tmp_path / "a" / "b")
    own(tmp_path / "a" / "b" / "c")
    found = [*around(tmp_path / "a" / "b" / "c" / "d")]
    assert found == [tmp_path / "a" / "b" / "c", tmp_path / "a"]
