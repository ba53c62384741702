"""Globs under `depends_on`, matched against a real tree."""

from pathlib import Path

import pytest

from rubric_ci.project.dependencies import nearest_path

FROM_ROOT = "globs count from the root of the repository"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    for name in ("src/app/main.py", "README.md", ".github/workflows/ci.yml", ".git/HEAD"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    (root / "vendor/lib").mkdir(parents=True)
    (root / "linked").symlink_to("src")
    (root / "src/loop").symlink_to("..")
    (root / "outside").symlink_to(tmp_path)
    (tmp_path / "secret.txt").touch()
    return root


@pytest.mark.parametrize(
    "glob",
    [
        *("src", "src/", "./src/app", "src/**", "**/main.py", "src/*/main.py", "README.md", "**"),
        *(".github/**", "linked/**", "linked/app/*.py", "vendor/lib", "vendor/lib/**"),
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
        ("outside/secret.txt", "the nearest existing path is `outside/secret.txt`"),
        ("outside/*.txt", "the nearest existing path is `outside`"),
        ("", FROM_ROOT),
    ],
)
def test_a_glob_that_matches_nothing(tree: Path, glob: str, hint: str) -> None:
    assert nearest_path(tree, glob) == hint
