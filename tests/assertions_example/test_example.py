"""examples/assertions: grades without a judge, a key or a network."""

import json
import os
import subprocess
from pathlib import Path

from tests.invoke import invoke

ROOT = Path(__file__).parents[2]
EXAMPLE = "examples/assertions"


def rubric_ci(*words: str, cache: Path | None = None) -> subprocess.CompletedProcess[str]:
    own = {k: v for k, v in os.environ.items() if not k.startswith(("OPENAI_", "RUBRIC_CI_"))}
    folder = {"RUBRIC_CI_CACHE_DIR": str(cache)} if cache else {}
    return invoke(ROOT, own | folder, *words)


def test_it_grades_without_a_judge(tmp_path: Path) -> None:
    config = f"{EXAMPLE}/rubric-ci.yaml"
    done = rubric_ci("run", "--config", config, "--output-dir", str(tmp_path), cache=tmp_path)
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "report.json").read_text())
    assert (report["totals"]["calls"], [case["score"] for case in report["cases"]]) == (0, [1, 1])
    criteria = [c for case in report["cases"] for e in case["evaluators"] for c in e["criteria"]]
    assert {criterion["kind"] for criterion in criteria} == {"assertion"}


def test_its_files_have_no_problems() -> None:
    done = rubric_ci("validate", f"{EXAMPLE}/evals")
    assert (done.returncode, done.stdout) == (0, "1 file checked: no problems\n")
