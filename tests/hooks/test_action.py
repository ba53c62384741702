"""`hooks/action.py`: what it installs, where, and that the workspace has no say in it."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hooks import action

SCRIPT = Path(action.__file__)


def start(command: str, tool_cache: Path, **more: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "RUBRIC_CI_COMMAND": command, "RUNNER_TOOL_CACHE": str(tool_cache)}
    words = [sys.executable, "-I", str(SCRIPT)]
    return subprocess.run(
        words, env=environ | more, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("", "unknown command ''"),
        ("100%\nrm", "unknown command '100%25%0Arm'"),
    ],
    ids=["none", "hostile"],
)
def test_unknown_command(command: str, message: str, tmp_path: Path) -> None:
    started = start(command, tmp_path)
    known = "validate, run, generate, comment"
    assert started.stdout == f"::error title=rubric-ci::{message}; write one of {known}\n"
    assert started.returncode == action.USAGE
    assert not list(tmp_path.iterdir())


def test_unwritable_tool_cache_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "rubric-ci").write_text("not a folder")
    started = start("validate", tmp_path)
    assert started.returncode == action.USAGE
    assert started.stdout.startswith("::error title=rubric-ci::[Errno")
    assert started.stdout.count("\n") == 1
    assert not started.stderr


def tools(folder: Path, *releases: str, windows: bool = False) -> Path:
    for release in releases:
        python = folder / "Python" / release / "x64" / ("python.exe" if windows else "bin/python3")
        python.parent.mkdir(parents=True)
        python.touch()
    return folder


@pytest.mark.parametrize("windows", [False, True], ids=["posix", "windows"])
def test_too_old_an_interpreter_takes_the_newest_of_the_tool_cache(
    windows: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(action, "WINDOWS", windows)
    cache = tools(tmp_path, "3.9.9", "3.11.4", "3.14.0-rc.1", "3.12.10", "3.12.9", windows=windows)
    found = action.interpreter({"RUNNER_TOOL_CACHE": str(cache)}, (3, 10, 12))
    assert found.relative_to(cache).parts[:2] == ("Python", "3.12.10")


@pytest.mark.parametrize("releases", [(), ("3.9.9", "3.10.12")], ids=["empty", "old"])
def test_too_old_an_interpreter_and_no_other(releases: tuple[str, ...], tmp_path: Path) -> None:
    with pytest.raises(action.CannotStart, match=r"rubric-ci needs 3\.11; put a step with"):
        action.interpreter({"RUNNER_TOOL_CACHE": str(tools(tmp_path, *releases))}, (3, 10, 12))


@pytest.mark.parametrize(
    ("environ", "windows", "folder"),
    [
        ({"RUNNER_TOOL_CACHE": "/opt/tools", "XDG_CACHE_HOME": "/xdg"}, False, "/opt/tools"),
        ({"RUNNER_TOOL_CACHE": "", "XDG_CACHE_HOME": "/xdg"}, False, "/xdg"),
        ({}, False, "~/.cache"),
        ({}, True, "~/AppData/Local"),
    ],
    ids=["runner", "xdg", "home", "windows"],
)
def test_cache_folder(
    environ: dict[str, str], windows: bool, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(action, "WINDOWS", windows)
    assert action.cache_folder(environ) == Path(folder).expanduser() / "rubric-ci"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small checkout of the action, with an empty list of requirements."""
    folder = tmp_path / "checkout"
    for name in ("rubric_ci/__init__.py", "schemas/eval.schema.json", "requirements/light.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
    monkeypatch.setattr(action, "CHECKOUT", folder)
    return folder


@pytest.mark.parametrize(
    ("changed", "new"),
    [
        ("requirements/light.txt", True),
        ("rubric_ci/__init__.py", True),
        ("rubric_ci/added.py", True),
        ("schemas/eval.schema.json", True),
        ("requirements/judge.txt", False),
        ("rubric_ci/__pycache__/added.pyc", False),
        ("README.md", False),
    ],
)
def test_digest_changes_with_what_is_installed(changed: str, new: bool, checkout: Path) -> None:
    before = action.digest("light")
    (checkout / changed).parent.mkdir(exist_ok=True)
    (checkout / changed).write_text("# changed\n")
    assert (action.digest("light") != before) is new


def test_digest_changes_with_the_interpreter(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = action.digest("light")
    monkeypatch.setattr(sys, "version", "3.99.0")
    assert action.digest("light") != before


def test_failed_installation_leaves_nothing(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(action, "installers", lambda environment: (shutil.which("false"),))
    with pytest.raises(action.CannotStart, match=r"^false could not install light\.txt \(exit"):
        action.install("light", tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


def test_of_two_at_once_one_wins_and_both_work(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"

    def overtaken(environment: Path) -> tuple[str]:
        monkeypatch.setattr(action, "installers", lambda environment: (shutil.which("true"),))
        first.append(action.install("light", cache))
        return (shutil.which("true") or "",)

    first: list[Path] = []
    monkeypatch.setattr(action, "installers", overtaken)
    assert [action.install("light", cache)] == first == list(cache.iterdir())


@pytest.mark.parametrize(
    ("uv", "pip", "expected"),
    [
        ("/opt/uv", True, ["/opt/uv", "--no-config", "pip", "install"]),
        ("./uv", True, [sys.executable, "-I", "-m", "pip"]),
        (None, True, [sys.executable, "-I", "-m", "pip"]),
    ],
    ids=["uv", "uv-of-the-workspace", "pip"],
)
def test_installers(
    uv: str | None, pip: bool, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: uv)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: pip)
    words = [str(word) for word in action.installers(Path("environment"))]
    assert words[:4] == expected
    assert {"--require-hashes", "--no-deps"} <= set(words)


def test_no_installer_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(action.CannotStart, match=r"^neither uv nor pip is here"):
        action.installers(Path("environment"))


@pytest.mark.parametrize(
    ("windows", "python"),
    [(False, "e/bin/python"), (True, "e/Scripts/python.exe")],
    ids=["posix", "windows"],
)
def test_python_of(windows: bool, python: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(action, "WINDOWS", windows)
    assert action.python_of(Path("e")) == Path(python)
