"""Examples with files of other tools: each runs offline, and its files are those of today."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import platforms
from tests.invoke import invoke
from tests.pictures import media

ROOT = Path(__file__).parents[2]
pytestmark = platforms.SHELL

SHOTS = "examples/screenshots"


def rubric_ci(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    own = {k: v for k, v in os.environ.items() if not k.startswith(("OPENAI_", "RUBRIC_CI_"))}
    return invoke(ROOT, {**own, "RUBRIC_CI_CACHE_DIR": str(tmp_path)}, *words)


@pytest.mark.parametrize(
    ("words", "code", "verdicts"),
    [
        (("--config", "examples/agent-skills/rubric-ci.yaml"), 0, ["pass", "pass"]),
        (("--config", "examples/skill-comparison/rubric-ci.yaml"), 0, ["pass", "fail"] * 6),
        (
            ("--config", f"{SHOTS}/rubric-ci.yaml", "--replay", f"{SHOTS}/judge.replay.jsonl"),
            1,
            ["pass", "fail"],
        ),
        (("--config", "examples/agentv-5/rubric-ci.yaml"), 0, ["pass"] * 3),
        (("examples/promptfoo-import/evals",), 0, ["pass", "pass"]),
        (
            ("--config", "examples/promptfoo/rubric-ci.yaml", "--target", "promptfoo"),
            1,
            ["pass", "fail", "pass", None],
        ),
    ],
    ids=["agent skills", "skill comparison", "screenshots", "agentv 5", "promptfoo", "runner"],
)
def test_it_runs_offline(
    tmp_path: Path, words: tuple[str, ...], code: int, verdicts: list[str | None]
) -> None:
    assert ran(tmp_path, words)[:2] == (code, verdicts)


def ran(tmp_path: Path, words: tuple[str, ...]) -> tuple[int, list[str | None], str]:
    """Run an example; return the exit code, the verdicts and the text on its way."""
    done = rubric_ci(tmp_path, "run", *words, "--output-dir", str(tmp_path))
    report = json.loads((tmp_path / "report.json").read_text())
    return done.returncode, [case.get("verdict") for case in report["cases"]], done.stderr


def test_a_conversation_runs_and_announces_messages_of_its_user(tmp_path: Path) -> None:
    """Also of a command, whose own requests are unknown."""
    words = ("--config", "examples/conversation/rubric-ci.yaml")
    code, verdicts, said = ran(tmp_path, words)
    assert (code, verdicts) == (0, ["pass", "pass"])
    assert "for simulated users" in said.splitlines()[0]


@pytest.mark.parametrize(
    "files",
    [
        ("examples/agent-skills/refunds/evals/evals.json",),
        ("examples/skill-comparison/skills/refunds/evals/evals.json",),
        ("examples/conversation/evals/refund.eval.yaml",),
        (f"{SHOTS}/evals/shots.eval.yaml",),
        ("examples/agentv-5/support.eval.yaml",),
        ("examples/promptfoo-import/evals/promptfooconfig.eval.yaml",),
    ],
)
def test_its_files_have_no_problems(tmp_path: Path, files: tuple[str, ...]) -> None:
    done = rubric_ci(tmp_path, "validate", *files)
    assert (done.returncode, done.stdout) == (0, "1 file checked: no problems\n")


def test_what_is_imported_is_what_the_example_has(tmp_path: Path) -> None:
    example = ROOT / "examples/promptfoo-import"
    shutil.copytree(example / "theirs", tmp_path / "theirs")
    done = rubric_ci(
        *(tmp_path, "import", str(tmp_path / "theirs/promptfooconfig.yaml")),
        *("--output-dir", str(tmp_path / "evals")),
    )
    assert done.returncode == 0, done.stdout
    for file in (example / "evals").iterdir():
        assert (tmp_path / "evals" / file.name).read_text() == file.read_text()


def test_the_pictures_are_what_their_script_draws(tmp_path: Path) -> None:
    (tmp_path / "shots").mkdir()
    shutil.copy(ROOT / SHOTS / "draw.py", tmp_path)
    subprocess.run([sys.executable, str(tmp_path / "draw.py")], check=True)
    for path in (ROOT / SHOTS / "shots").iterdir():
        drawn = media("drawn", (tmp_path / "shots" / path.name).read_bytes())
        kept = media("kept", path.read_bytes())  # another zlib packs the same pixels otherwise
        assert (drawn.width, drawn.height) == (kept.width, kept.height) == (240, 160)
