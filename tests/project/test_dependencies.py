"""Globs under `depends_on`, matched against a real tree."""

from pathlib import Path

import pytest

from rubric_ci.project.dependencies import nearest_path
from tests import platforms

FROM_ROOT = "globs count from the root of the repository"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    for name in ("src/app/main.py", "README.md", ".github/workflows/ci.yml", ".git/HEAD"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    (root / "vendor/lib").mkdir(parents=True)
    return root


@pytest.fixture
def linked(tree: Path, tmp_path: Path) -> Path:
    platforms.symlink(tree / "linked", "src")
    platforms.symlink(tree / "src/loop", "..")
    platforms.symlink(tree / "outside", tmp_path)
    (tmp_path / "secret.txt").touch()
    return tree


@pytest.mark.parametrize(
    "glob",
    [
        *("src", "src/", "./src/app", "src/**", "**/main.py", "src/*/main.py", "README.md", "**"),
        *(".github/**", "vendor/lib", "vendor/lib/**"),
        *("!nothing/**", "s[pqr]c/**"),
    ],
)
def test_a_glob_that_matches(tree: Path, glob: str) -> None:
    assert nearest_path(tree, glob) is None


@pytest.mark.parametrize(
    ("glob", "hint"),
    [
        ("scr/**", "did you mean `src/**`?"),
        ("src/ap/*.py", "did you mean `src/app/*.py`?"),
        ("src/app/mian.py", "did you mean `src/app/main.py`?"),
        ("src/app/*.js", "the nearest existing path is `src/app`"),
        ("/src/app/**", "the nearest existing path is `src/app`"),
        ("nothing/like/it", FROM_ROOT),
        ("**/*.rs", FROM_ROOT),
        ("../repo/src/**", FROM_ROOT),
        (".git/HEAD", "did you mean `.github/HEAD`?"),
        ("", FROM_ROOT),
    ],
)
def test_a_glob_that_matches_nothing(tree: Path, glob: str, hint: str) -> None:
    assert nearest_path(tree, glob) == hint


@pytest.mark.parametrize("glob", ["src/**", "**/main.py", "linked/**", "linked/app/*.py", "**"])
def test_a_glob_that_matches_through_a_link(linked: Path, glob: str) -> None:
    assert nearest_path(linked, glob) is None


@pytest.mark.parametrize(
    ("glob", "hint"),
    [
        ("outside/secret.txt", "the nearest existing path is `outside/secret.txt`"),
        ("outside/*.txt", "the nearest existing path is `outside`"),
        ("src/app/*.js", "the nearest existing path is `src/app`"),
    ],
)
def test_a_glob_that_matches_nothing_behind_a_link(linked: Path, glob: str, hint: str) -> None:
    assert nearest_path(linked, glob) == hint
