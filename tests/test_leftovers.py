"""The check of every run of the tests: what they leave in the checkout fails it."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[1]
TEST: Final = """
from pathlib import Path


def test_it(tmp_path: Path) -> None:
    (tmp_path / "kept.txt").write_text("kept")
    {statement}
"""


def run(folder: Path, statement: str, *options: str) -> tuple[int, str]:
    """Run a test with this statement; return the exit code and what pytest printed."""
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "there.txt").write_text("there")
    (folder / "test_it.py").write_text(TEST.format(statement=statement))
    temporary = folder.with_name(f"{folder.name}-temporary")  # else it deletes those of other runs
    command = [sys.executable, "-m", "pytest", "-p", "tests.leftovers", "-q"]
    done = subprocess.run(
        [*command, "--basetemp", str(temporary), *options],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize("options", [(), ("-n", "1")], ids=["alone", "worker"])
@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("Path('verdict.sarif').write_text('{}')", "left: verdict.sarif"),
        ("Path('.rubric-ci/cache').mkdir(parents=True)", "left: .rubric-ci/cache/"),
        ("Path('there.txt').unlink()", "removed: there.txt"),
    ],
    ids=["a file", "an empty folder", "removed"],
)
def test_a_file_outside_the_temporary_folder(
    statement: str, found: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    code, printed = run(tmp_path, statement, *options)
    assert code == 1, printed
    lines = printed.splitlines()
    assert lines[lines.index(found) - 1].strip("= ") == (
        "the tests changed the checkout; write below tmp_path"
    )
    assert lines[-1].startswith("1 passed")


def test_caches_and_temporary_files(tmp_path: Path) -> None:
    statement = "Path('__pycache__').mkdir(exist_ok=True); Path('__pycache__/x.pyc').touch()"
    code, printed = run(tmp_path, statement)
    assert code == 0, printed
    assert "checkout" not in printed
