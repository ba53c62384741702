"""`run` with labels that were drawn at random: a corrected pass rate in every report."""

import json
from pathlib import Path

import pytest

from rubric_ci.calibration import labels
from rubric_ci.calibration.labels import Label
from rubric_ci.calibration.sample import draw
from rubric_ci.reports import json_format
from tests.aimock import Aimock
from tests.commands.test_run_judged import Judged, marks

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


def test_some_cases_are_not(labelled: Judged) -> None:
    labelled.run("--case", "case-0")
    assert labelled.report()["notes"] == []


def test_labels_with_problems_are_named(labelled: Judged) -> None:
    lines = (labelled.root / "labels.jsonl").read_text(encoding="utf-8")
    labelled.write("labels.jsonl", lines + json.dumps({"id": "?"}))
    assert labelled.run().returncode == 0
    (note,) = labelled.report()["notes"]
    assert note == (
        "labels.jsonl has problems: run `rubric-ci calibrate labels.jsonl` to see them; the pass "
        "rate is not corrected for the judge's errors."
    )
