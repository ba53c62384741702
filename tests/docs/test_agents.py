"""The agent with tools runs as its page shows it."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.code_blocks import ROOT, code_blocks
from tests.invoke import invoke

BLOCKS = list(code_blocks(ROOT / "docs/agents.md"))
ENVIRONMENT = {"PATH": os.environ["PATH"]}


def block(words: str) -> str:
    (found,) = (b.text for b in BLOCKS if words in b.text)
    return found


@pytest.mark.skipif(sys.platform == "win32", reason="the page has commands of a POSIX shell")
def test_the_agent_passes_as_the_page_shows(tmp_path: Path) -> None:
    subprocess.run(["sh", "-c", block("cat > agent.py")], cwd=tmp_path, check=True)
    config = block("python agent.py").replace("python", shlex.quote(sys.executable), 1)
    (tmp_path / "rubric-ci.yaml").write_text(config, encoding="utf-8")
    (tmp_path / "orders.eval.yaml").write_text(block("looks-up-the-order"), encoding="utf-8")
    done = invoke(tmp_path, ENVIRONMENT, "run")
    shown = block("$ rubric-ci run").splitlines()[1:]
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line for line in shown if line not in done.stdout] == []
