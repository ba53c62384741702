"""`rubric-ci init` as a user types it."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rubric_ci import __version__
from rubric_ci.system import resources

pytestmark = pytest.mark.timeout(120)

FILES = [
    ".github/workflows/evals.yml",
    ".gitignore",
    ".pre-commit-config.yaml",
    "evals/example.eval.yaml",
    "rubric-ci.yaml",
]


def command(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rubric_ci", *arguments],
        cwd=root,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


def files(root: Path) -> list[str]:
    return sorted(p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file())


def first_lines(output: str) -> list[str]:
    return output.split("\n\nNext: ", maxsplit=1)[0].splitlines()


def test_a_new_project_is_valid(tmp_path: Path) -> None:
    done = command(tmp_path, "init")
    assert (done.returncode, done.stderr) == (0, "")
    assert first_lines(done.stdout) == [
        "wrote rubric-ci.yaml",
        "wrote evals/example.eval.yaml",
        "wrote .github/workflows/evals.yml",
        "wrote .pre-commit-config.yaml",
        "wrote .gitignore",
    ]
    assert files(tmp_path) == FILES
    checked = command(tmp_path, "validate")
    assert (checked.returncode, checked.stdout) == (0, "2 files checked: no problems\n")


def test_a_folder_may_be_named_and_new(tmp_path: Path) -> None:
    assert command(tmp_path, "init", "new/project").returncode == 0
    assert files(tmp_path / "new" / "project") == FILES


def test_nothing_that_is_there_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "rubric-ci.yml").write_text("evals: [mine.yaml]\n")
    (tmp_path / ".gitignore").write_text("*.pyc\n")
    (tmp_path / ".pre-commit-config.yaml").write_text("repos: []\n")
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals" / "example.eval.yaml").write_text("mine")
    done = command(tmp_path, "init")
    assert first_lines(done.stdout) == [
        "kept rubric-ci.yml: it exists (--force overwrites it)",
        "kept evals/example.eval.yaml: it exists (--force overwrites it)",
        "wrote .github/workflows/evals.yml",
        "kept .pre-commit-config.yaml: check that it contains:",
        "    repos:",
        "      - repo: https://github.com/rubric-ci/rubric-ci",
        "        rev: v0.1.0",
        "        hooks:",
        "          - id: rubric-ci-validate",
        "kept .gitignore: check that it contains:",
        "    .rubric-ci/",
    ]
    assert not (tmp_path / "rubric-ci.yaml").exists()
    assert (tmp_path / "rubric-ci.yml").read_text() == "evals: [mine.yaml]\n"
    assert (tmp_path / ".gitignore").read_text() == "*.pyc\n"
    assert (tmp_path / "evals" / "example.eval.yaml").read_text() == "mine"


def test_twice_changes_nothing(tmp_path: Path) -> None:
    command(tmp_path, "init")
    before = {name: (tmp_path / name).read_bytes() for name in FILES}
    done = command(tmp_path, "init")
    assert first_lines(done.stdout)[-2:] == [
        "kept .pre-commit-config.yaml: it contains the rubric-ci lines already",
        "kept .gitignore: it contains the rubric-ci lines already",
    ]
    assert {name: (tmp_path / name).read_bytes() for name in files(tmp_path)} == before


def test_force_overwrites_unshared_files_only(tmp_path: Path) -> None:
    command(tmp_path, "init")
    for name in FILES:
        (tmp_path / name).write_text("mine\n")
    done = command(tmp_path, "init", "--force")
    assert first_lines(done.stdout)[:3] == [
        "wrote rubric-ci.yaml",
        "wrote evals/example.eval.yaml",
        "wrote .github/workflows/evals.yml",
    ]
    kept = [name for name in FILES if (tmp_path / name).read_text() == "mine\n"]
    assert kept == [".gitignore", ".pre-commit-config.yaml"]


def test_a_place_that_cannot_be_written_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = command(tmp_path, "init", "file/project")
    assert done.returncode == 2
    assert done.stderr == (
        f"rubric-ci: {Path('file/project/rubric-ci.yaml')}: cannot write the file: "
        "Not a directory\n  choose a folder that you can write to\n"
    )


def test_the_hook_is_of_this_version() -> None:
    assert f"rev: v{__version__}\n" in resources.read_example("scaffold/pre-commit-config.yaml")


def test_pre_commit_understands_the_configuration(tmp_path: Path) -> None:
    pre_commit = shutil.which("pre-commit", path=str(Path(sys.executable).parent))
    assert pre_commit is not None
    command(tmp_path, "init")
    subprocess.run(
        [pre_commit, "validate-config", ".pre-commit-config.yaml"],
        cwd=tmp_path,
        check=True,
        timeout=60,
    )


def test_what_a_run_leaves_in_a_folder_below_is_ignored_too(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    command(tmp_path, "init")
    left = ["git", "check-ignore", ".rubric-ci/report.json", "evals/.rubric-ci/report.json"]
    done = subprocess.run(left, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == left[2:]
