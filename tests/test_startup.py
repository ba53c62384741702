"""What a command must not load: start-up is a feature."""

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {
    *("litellm", "openai", "httpx", "aiohttp", "requests", "urllib3", "github"),
    *("rich", "pydantic", "asyncio"),
}
EVAL = "evalcases:\n  - id: one\n    input: Hi\n    rubrics: [Greets back]\n"
BROKEN = "evalcases:\n  - id: one\n    input: Hi\n    rubric: [Greets back]\n"


def loaded(tmp_path: Path, *arguments: str) -> set[str]:
    """Return the top-level modules that a command loaded."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "rubric_ci", *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode in {0, 1}, done.stderr[-500:]  # 2: the command line is wrong
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    assert len(lines) > 10
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in lines}


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--help"], ""),
        (["--version"], ""),
        (["validate", "a.eval.yaml"], EVAL),
        (["validate", "a.eval.yaml"], BROKEN),
        (["validate", "--format", "github", "a.eval.yaml"], BROKEN),
    ],
    ids=["help", "version", "validate a good file", "validate a bad file", "validate for github"],
)
def test_light_commands_load_nothing_heavy(tmp_path: Path, arguments: list[str], text: str) -> None:
    (tmp_path / "a.eval.yaml").write_text(text)
    modules = loaded(tmp_path, *arguments)
    assert "click" in modules
    assert modules.isdisjoint(HEAVY)


def test_a_good_file_needs_no_jsonschema(tmp_path: Path) -> None:
    (tmp_path / "a.eval.yaml").write_text(EVAL)
    assert "jsonschema" not in loaded(tmp_path, "validate", "a.eval.yaml")
