"""The quickstart example, offline, from its recordings."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from tests.captured import captured
from tests.invoke import invoke

ROOT = Path(__file__).parents[2]
EXAMPLE = "examples/quickstart"


def test_the_example_shows_each_outcome(tmp_path: Path) -> None:
    recording = ("--replay", f"{EXAMPLE}/judge.replay.jsonl", "--output-dir", str(tmp_path))
    wide = {**os.environ, "COLUMNS": "100"}
    done = invoke(ROOT, wide, "run", "--config", f"{EXAMPLE}/rubric-ci.yaml", *recording)
    assert done.returncode == 1, done.stderr
    report = json.loads((tmp_path / "report.json").read_text())
    assert [
        (case["id"], case["outcome"], case.get("verdict"), case.get("score"))
        for case in report["cases"]
    ] == [
        ("refund-window", "graded", "pass", 1.0),
        ("worn-tyre", "graded", "fail", 0.25),
        ("gear-ratio", "graded", "borderline", 0.76),
        ("opening-hours", "skipped", None, None),
    ]
    assert report["cases"][1]["gated_by"] == ["no-promise"]
    for part in shown_in_readme().split("\n\n"):
        assert part.strip() in done.stdout


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_demo_installs_what_an_offline_run_needs() -> None:
    recipe = captured(
        ["make", "--no-print-directory", "--dry-run", "--always-make", "demo", "clean"],
        cwd=ROOT,
        check=True,
    ).stdout
    assert re.findall(r"requirements/\S+\.txt", recipe) == ["requirements/light.txt"]
    assert set(re.findall(r"\S+/bin/python -m rubric_ci", recipe)) == {
        ".venv-demo/bin/python -m rubric_ci"
    }
    assert ".venv-demo" in recipe.splitlines()[-1].split()


def shown_in_readme() -> str:
    """What the README says that `make demo` prints."""
    return (ROOT / "README.md").read_text().partition("```text\n")[2].partition("```")[0]
