"""What a misspelt path or a glob of `depends_on` probably means, against real trees."""

from pathlib import Path

import pytest

from rubric_ci.files.project.near_files import GlobsOfFiles, near_file
from tests import platforms

NEAR = {
    "a letter": ("prompts/refnd.md", "prompts/refund.md"),
    "a folder": ("prompt/refund.md", "prompts/refund.md"),
    "both": ("prompt/refnd.md", "prompts/refund.md"),
    "another suffix": ("prompts/refund.txt", "prompts/refund.md"),
    "case": ("Prompts/Refund.md", "prompts/refund.md"),
    "from the root": ("/evals/notess.txt", "/evals/notes.txt"),
    "next to the eval file": ("note.txt", "notes.txt"),
    "above": ("../prompts/refnd.md", "../prompts/refund.md"),
    "nothing close": ("data/table.csv", ""),
    "a folder itself": ("prompt", ""),
    "hidden": (".hiden", ""),
    "outside": ("../../secre.md", ""),
}


@pytest.mark.parametrize(("reference", "meant"), NEAR.values(), ids=NEAR)
def test_near_file(tmp_path: Path, reference: str, meant: str) -> None:
    top = (tmp_path / "repository").resolve()
    (top / "evals").mkdir(parents=True)
    (top / "prompts").mkdir()
    for name in ("prompts/refund.md", "evals/notes.txt", ".hidden", "../secret.md"):
        (top / name).write_text("x", encoding="utf-8")
    if (top / reference).exists():
        pytest.skip("this file system ignores case")
    assert near_file(reference, str(top / "evals"), str(top)) == meant


def test_nothing_is_near_behind_a_link(tmp_path: Path) -> None:
    top = (tmp_path / "repository").resolve()
    (top / "evals").mkdir(parents=True)
    (tmp_path / "secret.md").touch()
    platforms.symlink(top / "out", "..")
    assert near_file("out/secre.md", str(top / "evals"), str(top)) == ""


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
    assert GlobsOfFiles(tree).nearest(glob) is None


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
    assert GlobsOfFiles(tree).nearest(glob) == hint


@pytest.mark.parametrize("glob", ["src/**", "**/main.py", "linked/**", "linked/app/*.py", "**"])
def test_a_glob_that_matches_through_a_link(linked: Path, glob: str) -> None:
    assert GlobsOfFiles(linked).nearest(glob) is None


@pytest.mark.parametrize(
    ("glob", "hint"),
    [
        ("outside/secret.txt", "the nearest existing path is `outside/secret.txt`"),
        ("outside/*.txt", "the nearest existing path is `outside`"),
        ("src/app/*.js", "the nearest existing path is `src/app`"),
    ],
)
def test_a_glob_that_matches_nothing_behind_a_link(linked: Path, glob: str, hint: str) -> None:
    assert GlobsOfFiles(linked).nearest(glob) == hint
