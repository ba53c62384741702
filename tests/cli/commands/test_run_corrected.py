"""`run` with labels that were drawn at random: a corrected pass rate in every report."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rubric_ci.gate.report import json_format
from rubric_ci.parts.lab.calibration import labels
from rubric_ci.parts.lab.calibration.label_file import draw
from rubric_ci.parts.lab.calibration.labels import Label
from tests.aimock import Aimock
from tests.cli.commands.test_run_judged import Judged, marks
from tests.sample_project import clean_environment

NAMES = [f"case-{n}" for n in range(6)]


@pytest.fixture
def labelled(tmp_path: Path, aimock: Aimock) -> Judged:
    """A suite that the judge passes, with labels of five drawn answers; one is a fail."""
    judged = Judged(tmp_path, aimock)
    judged.cases(*NAMES)
    judged.server.script(marks(True, True))
    assert judged.run().returncode == 0
    report = json_format.read((tmp_path / ".rubric-ci/report.json").read_text(encoding="utf-8"))
    draws = draw(report, 5, 0, seed=0)
    found = [
        Label(
            file=file,
            id=case,
            evaluator="rubric",
            answer=f"Hello from {case}",
            marks={"greets": n > 0, "short": True},
            draw=each,
        )
        for n, ((file, case), each) in enumerate(draws.items())
    ]
    judged.write("labels.jsonl", labels.dump(found))
    return judged


def test_a_whole_suite_is_corrected(labelled: Judged) -> None:
    assert labelled.run().returncode == 0
    (note,) = labelled.report()["notes"]
    assert note.startswith("Pass rate judged 1.00; 0.75 (")
    assert " corrected by 5 labels of 20" in note
    assert note in (labelled.root / ".rubric-ci/summary.md").read_text(encoding="utf-8")
    found = labelled.report()["corrected_pass_rate"]
    assert (found["judged"], round(found["value"], 2), found["withheld"]) == (1.0, 0.75, "")
    assert found["low"] < found["value"] < found["high"]
    assert found["labels"] == 5
    assert found["passes"] == {"labelled": 5, "passes": 4.0, "of": 6}
    assert found["fails"] == {"labelled": 0, "passes": 0.0, "of": 0}


def test_merged_shards_are_corrected_as_the_whole_suite_is(labelled: Judged) -> None:
    labelled.run()
    whole = labelled.report()
    for shard in (1, 2):
        labelled.run("--shard", f"{shard}/2", "--output-dir", f"parts/{shard}")
    part = json.loads((labelled.root / "parts/1/report.json").read_text(encoding="utf-8"))
    assert (part["corrected_pass_rate"]["value"], part["notes"]) == (None, [])
    done = subprocess.run(
        [sys.executable, "-m", "rubric_ci", "report", "merge", "parts"],
        cwd=labelled.root,
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    merged = labelled.report()
    assert merged["corrected_pass_rate"] == whole["corrected_pass_rate"]
    assert merged["notes"] == whole["notes"]


def test_some_cases_are_not(labelled: Judged) -> None:
    labelled.run("--case", "case-0")
    assert labelled.report()["notes"] == []


def test_labels_with_problems_are_named(labelled: Judged) -> None:
    lines = (labelled.root / "labels.jsonl").read_text(encoding="utf-8")
    labelled.write("labels.jsonl", lines + json.dumps({"id": "?"}))
    assert labelled.run().returncode == 0
    (note,) = labelled.report()["notes"]
    assert note == (
        "labels.jsonl has problems: run `rubric-ci judge calibrate labels.jsonl` to see them; the "
        "pass rate is not corrected for the judge's errors."
    )
