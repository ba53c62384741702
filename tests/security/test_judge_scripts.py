"""A judge's command of the base does not start a script of the pull request."""

import os
import sys
from pathlib import Path

import pytest

from rubric_ci.models.llm.allowed_hosts import refusal
from rubric_ci.values.agent_program import JudgeCommand
from rubric_ci.values.hosts import AllowedHosts
from rubric_ci.values.targets import Endpoint
from tests.platforms import symlink


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "checkout"
    (root / "tools").mkdir(parents=True)
    for name in ("judge.py", "tools/judge", "a b.sh"):
        (root / name).write_text("#!/bin/sh\n")
        (root / name).chmod(0o755)
    symlink(tmp_path / "link.py", root / "judge.py")
    (tmp_path / "installed.py").write_text("")
    monkeypatch.chdir(root)
    return root


def refused(argv: tuple[str, ...], checkout: str) -> str:
    allowed = AllowedHosts(hosts=frozenset(), providers=True, checkout=checkout)
    return refusal(Endpoint(model="command/x", command=JudgeCommand(argv=argv)), allowed)


@pytest.mark.parametrize(
    "argv",
    [
        ("python3", "judge.py"),
        ("python3", "./judge.py"),
        ("python3", "{root}/judge.py"),
        ("python3", "{root}/tools/../judge.py"),
        ("python3", "{root}/../link.py"),
        ("tools/judge",),
        ("./tools/judge", "--fast"),
        ("{root}/tools/judge",),
        ("python3", "--script=judge.py"),
        ("python3", "-X", "path={root}/tools"),
        ("sh", "-c", "python3 '{root}/judge.py' --fast"),
        ("sh", "-c", "cd {root} && ./judge.py"),
        ("sh", "a b.sh"),
        ("tool", "@judge.py"),
    ],
)
def test_a_file_of_the_checkout(argv: tuple[str, ...], checkout: Path) -> None:
    said = refused(tuple(each.format(root=checkout) for each in argv), str(checkout))
    assert said.startswith("the judge's command names `")
    assert "a file of this change, so it was not started" in said


def test_a_checkout_program_on_the_path(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{checkout / 'tools'}{os.pathsep}{os.environ['PATH']}")
    assert "a file of this change" in refused(("judge",), str(checkout))


@pytest.mark.parametrize(
    "argv",
    [("judge", "--model", "x"), (sys.executable, "-m", "judge"), ("python3", "{up}/installed.py")],
)
def test_a_command_outside_of_it(argv: tuple[str, ...], checkout: Path) -> None:
    assert refused(tuple(each.format(up=checkout.parent) for each in argv), str(checkout)) == ""


def test_without_a_policy_of_a_base(checkout: Path) -> None:
    assert refused(("python3", str(checkout / "judge.py")), "") == ""
