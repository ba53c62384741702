"""The check of every run of the tests: what they leave in the checkout fails it."""

import os
from pathlib import Path
from typing import Final

import pytest

from tests.parts.pytest import forked

ROOT: Final = Path(__file__).parents[1]
TEST: Final = """
from pathlib import Path


def test_it(tmp_path: Path) -> None:
    (tmp_path / "kept.txt").write_text("kept")
    {statements}
"""
CHANGES: Final = (
    "Path('verdict.sarif').write_text('{}')",
    "Path('.rubric-ci/cache').mkdir(parents=True)",
    "Path('there.txt').unlink()",
)


def run(folder: Path, *options: str, statements: tuple[str, ...]) -> tuple[int, str]:
    """Run a test with these statements; return the exit code and what pytest printed."""
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "there.txt").write_text("there")
    (folder / "test_it.py").write_text(TEST.format(statements="; ".join(statements)))
    temporary = folder.with_name(f"{folder.name}-temporary")  # else it deletes those of other runs
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    words = ("-p", "tests.leftovers", "-q", "--basetemp", str(temporary), *options)
    done = forked.run(words, folder, environment)
    return done.returncode, done.stdout


@pytest.mark.parametrize("options", [(), ("-p", "xdist", "-n", "1")], ids=["alone", "worker"])
def test_files_outside_the_temporary_folder(options: tuple[str, ...], tmp_path: Path) -> None:
    code, printed = run(tmp_path, *options, statements=CHANGES)
    assert code == 1, printed
    *_, title, first, second, third, result = printed.splitlines()
    assert title.strip("= ") == "the tests changed the checkout; write below tmp_path"
    assert [first, second, third] == [
        "left: .rubric-ci/cache/",
        "left: verdict.sarif",
        "removed: there.txt",
    ]
    assert result.startswith("1 passed")


@pytest.mark.parametrize("statement", CHANGES)
def test_each_of_them_fails_the_run(statement: str, tmp_path: Path) -> None:
    code, printed = run(tmp_path, statements=(statement,))
    assert (code, printed.count("\nleft: ") + printed.count("\nremoved: ")) == (1, 1), printed


def test_caches_and_temporary_files(tmp_path: Path) -> None:
    made = ("Path('__pycache__').mkdir(exist_ok=True)", "Path('__pycache__/x.pyc').touch()")
    code, printed = run(tmp_path, statements=made)
    assert code == 0, printed
    assert "checkout" not in printed
