"""A plugin of pytest: the run fails if the tests left files in the checkout, or removed some.

A test writes below `tmp_path` only. What programs keep for the next run, such as byte code, is in
the folders of `CACHES`.
"""

import os
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Final

import pytest

CACHES: Final = (
    *(".git", ".venv*", ".tools", "node_modules", "__pycache__", "*.egg-info"),
    *(".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis"),
    *(".import_linter_cache", ".grimp_cache"),
)
_BEFORE: Final = pytest.StashKey[frozenset[str]]()
_FOUND: Final = pytest.StashKey[list[str]]()


def pytest_sessionstart(session: pytest.Session) -> None:
    if _controls(session):
        session.stash[_BEFORE] = frozenset(files(session.config.rootpath))


@pytest.hookimpl(trylast=True)  # the workers of xdist have ended
def pytest_sessionfinish(session: pytest.Session) -> None:
    if not _controls(session):
        return
    before, after = session.stash[_BEFORE], frozenset(files(session.config.rootpath))
    found = [f"left: {name}" for name in sorted(after - before)]
    found += [f"removed: {name}" for name in sorted(before - after)]
    session.config.stash[_FOUND] = found
    if found and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    if found := config.stash.get(_FOUND, []):
        terminalreporter.section("the tests changed the checkout; write below tmp_path", red=True)
        for line in found:
            terminalreporter.line(line)


def files(root: Path) -> Iterator[str]:
    """Yield the path of each file and of each empty folder outside the caches, from `root`."""
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not _cache(name)]
        here = Path(folder).relative_to(root)
        if not folders and not names:
            yield f"{here.as_posix()}/"
        yield from ((here / name).as_posix() for name in names if not _cache(name))


def _cache(name: str) -> bool:
    return any(fnmatch(name, pattern) for pattern in CACHES)


def _controls(session: pytest.Session) -> bool:
    """Return True for a run without workers, and for the process that starts them."""
    return not hasattr(session.config, "workerinput")
