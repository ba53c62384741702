"""A container around a target: the command line, a program that stands for podman, and podman."""

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from rubric_ci.parts.agents import agent
from rubric_ci.parts.agents.workspace import Folders
from rubric_ci.system import container_engine
from rubric_ci.values.targets import CliTarget
from rubric_ci.values.workspace_settings import Workspace
from tests import platforms, podman
from tests.parts.agents.bench import Bench, worked
from tests.parts.agents.cli_outputs import printed
from tests.parts.agents.test_agent import rubric

pytestmark = platforms.SHELL

STUB = """\
#!/usr/bin/env python3
import json, os, subprocess, sys
with open({log!r}, "a") as log:
    print(json.dumps([sys.argv[1:], sorted(os.environ)]), file=log)
if sys.argv[1] == "run":
    words = sys.argv[sys.argv.index("image") + 1:]
    given = dict(w.split("=", 1) for w in sys.argv if w.startswith(("HOME=", "TMPDIR=")))
    sys.exit(subprocess.run(words, env=os.environ | given).returncode)
"""


def stub(bench: Bench, engine: str) -> Path:
    """Write a program that stands for an engine, and return the file of its starts."""
    log = bench.root.parent / f"{engine}.log"
    program = bench.programs / engine
    program.write_text(STUB.format(log=str(log)))
    program.chmod(0o755)
    return log


def test_the_command_line(bench: Bench) -> None:
    stub(bench, "podman")
    folders = Folders(Path("/t/rubric-ci-work-1/folder/work"), Path("/t/h"), Path("/t/b"), "1")
    user = f"--user={os.getuid()}:{os.getgid()}"
    keep = ("--userns=keep-id",) if os.getuid() else ()
    found = agent.container_prefix(
        "image", folders, ["PATH", "KEY", "HOME"], {"HOME": "/me", "A": "1"}
    )
    assert found == (
        *("env", "HOME=/me", "podman", "run", "--rm", "--interactive"),
        *("--name", "rubric-ci-work-1", "--cap-drop=all", "--security-opt=no-new-privileges"),
        *("--pids-limit=512", user, *keep),
        *("--volume", "/t/rubric-ci-work-1/folder/work:/t/rubric-ci-work-1/folder/work"),
        *("--volume", "/t/h:/t/h", "--env", "HOME=/t/h", "--env", "TMPDIR=/t/h", "--env", "KEY"),
        *("--workdir", "/t/rubric-ci-work-1/folder/work", "image"),
    )


def test_an_agent_works_in_it_and_commands_of_assertions_outside(bench: Bench) -> None:
    log = stub(bench, "podman")
    body = "Path('made').write_text(os.environ['HOME'])"
    target = bench.program("claude-code", printed("claude", "ok"), body)
    case = rubric(("command", "test -f made"))
    found = bench.answer(worked(target, container="image", keep=("made",)), case)
    assert found.work is not None
    assert found.work.files[0].text.endswith("/home")
    assert (found.work.sandbox, found.work.checks[0].holds) == ("image", True)
    (run, names), (remove, _) = map(json.loads, log.read_text().splitlines())
    assert (run[0], remove[:2]) == ("run", ["rm", "--force"])
    assert run[run.index("--name") + 1] == remove[2]
    assert {"ANTHROPIC_API_KEY", "HOME"} <= {*names}
    assert "sk-secret" not in log.read_text()


def test_it_is_removed_with_the_target(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container_engine, "_ENGINES", ("docker",))
    log = stub(bench, "docker")
    target = bench.program("claude-code", "", "import time; time.sleep(60)")
    target = replace(worked(target, container="image"), timeout_seconds=2)
    assert "did not end within 2 s" in bench.refusal(target)
    assert [json.loads(line)[0][0] for line in log.read_text().splitlines()] == ["run", "rm"]


@pytest.fixture
def image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with podman.image(tmp_path, monkeypatch) as name:
        yield name


def test_podman(bench: Bench, image: str, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("of the host")
    script = f"cat a; cat {tmp_path}/secret || touch made; ls /; echo $DEMO"
    target = CliTarget(
        name="c",
        command_template=script,
        env=("DEMO",),
        timeout_seconds=60,
        workspace=Workspace(copy="shop", container=image),
    )
    bench.files(shop__a="1\n")
    bench.environment |= podman.environment()
    found = bench.answer(target)
    assert found.work is not None
    assert [change.path for change in found.work.changes] == ["made"]
    lines = found.text.split()
    assert (lines[0], lines[-1], "home" in lines) == ("1", "on", False)
    listed = ["podman", "ps", "--all", "--quiet", "--filter", f"ancestor={image}"]
    assert subprocess.run(listed, capture_output=True, text=True, check=True).stdout == ""
