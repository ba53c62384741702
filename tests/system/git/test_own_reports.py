"""Reports of earlier runs are part of no change."""

import json
import os
from pathlib import Path
from random import Random

import pytest

from rubric_ci.system.git.own_reports import without_reports
from tests.checkout import Checkout
from tests.invoke import invoke

OWN = '{\n  "version": 1,\n  "tool": "rubric-ci 0.1.0",\n  "cases": []\n}\n'
REPORTS = ("json", "json,markdown", "json,html,junit,sarif")


@pytest.mark.parametrize(
    ("files", "left"),
    [
        (["o/report.json", "o/summary.md", "o/last-failed.json", "o/media/a.png"], []),
        (["o/report.json", "o/own.py", "o/deep/media/a.png"], ["o/own.py", "o/deep/media/a.png"]),
        (["o/summary.md", "a/media/b.png"], ["o/summary.md", "a/media/b.png"]),
        (["o/other/report.json"], ["o/other/report.json"]),
        (["report.json", "summary.md", "a.py"], ["a.py"]),
    ],
)
def test_what_a_run_wrote(files: list[str], left: list[str], tmp_path: Path) -> None:
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text('{"score": 1}\n' if "other" in name else OWN)
    assert without_reports(tmp_path, files) == tuple(left)


@pytest.mark.parametrize("seed", range(6))
def test_earlier_runs_select_nothing(seed: int, tmp_path: Path) -> None:
    """A program depends on every file of the repository, and on no report."""
    draw = Random(seed)
    cases = [{"id": name, "input": "q", "rubrics": [{"contains": "hello"}]} for name in "ab"]
    target = {"name": "default", "provider": "cli", "command_template": "echo hello"}
    made = Checkout.create(tmp_path)
    made.commit({"rubric-ci.yaml": json.dumps({"targets": [target]}), "kept/README.md": "x\n"})
    made.commit({"a.eval.yaml": json.dumps({"evalcases": cases})})
    changed = [{**cases[0], "input": "r"}, cases[1]]
    made.commit({"a.eval.yaml": json.dumps({"evalcases": changed})})

    def run(folder: str, *options: str) -> list[str]:
        home = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
        done = invoke(tmp_path, home, "run", "--output-dir", folder, *options)
        assert done.returncode == 0, done.stdout + done.stderr
        found = json.loads((tmp_path / folder / "report.json").read_text())
        return [case["id"] for case in found["cases"]]

    folders = ["o1", "out/deep", "kept", ".rubric-ci/two", ".", "kept/in"]
    for folder in draw.sample(folders, draw.randint(1, 4)):
        run(folder, *draw.choice([(), ("--reports", draw.choice(REPORTS))]))
        if draw.random() < 0.5:
            (tmp_path / folder / ".gitignore").unlink(missing_ok=True)  # as earlier versions did
    assert run("last", "--changed-since", "HEAD^") == ["a"]
    assert run("last", "--changed-since", "HEAD^") == ["a"]
    made.commit()
    (tmp_path / "kept/own.py").write_text("1\n")
    assert run("last", "--changed-since", "HEAD^") == ["a", "b"]
