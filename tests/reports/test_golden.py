"""Generated files are current: `make golden` would change nothing."""

import json
import runpy
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path

import jsonschema
import pytest

from rubric_ci.gate.report import json_format
from rubric_ci.reports import formats
from rubric_ci.values.formats_and_defaults import REPORT_FILES

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden"
REPORTS = sorted(GOLDEN.glob("*.report.json"))
PROGRAM = GOLDEN / "__main__.py"
PRESENT = sorted({path for path in GOLDEN.iterdir() if path.is_file()} - {*REPORTS, PROGRAM})
SCHEMA = ROOT / "schemas/report.schema.json"
MADE = [
    ROOT / f"schemas/{name}.schema.json"
    for name in ("config", "eval", "report", "rubric", "waivers")
]
GENERATED = [*PRESENT, *MADE]


@pytest.fixture(scope="module")
def outputs() -> Mapping[Path, str]:
    return dict(runpy.run_path(str(PROGRAM))["outputs"]())


@pytest.mark.parametrize("path", GENERATED, ids=lambda path: path.name)
def test_generated_file_is_current(path: Path, outputs: Mapping[Path, str]) -> None:
    assert path.read_text(encoding="utf-8") == outputs[path], (
        "run `make golden` and look at the diff"
    )


def test_no_generated_file_is_left_over(outputs: Mapping[Path, str]) -> None:
    assert {*GENERATED} == outputs.keys()


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.name)
def test_report_round_trips_and_fits_its_schema(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    report = json_format.read(text)
    assert json_format.render(report) == text
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(json.loads(text))


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.name)
def test_junit_counts_agree(path: Path) -> None:
    report = json_format.read(path.read_text(encoding="utf-8"))
    root = ET.fromstring(formats.render("junit", report))
    assert root.get("tests") == str(len(report.cases)) == str(len(list(root.iter("testcase"))))
    assert root.get("errors") == str(report.totals.errored) == str(len(list(root.iter("error"))))
    assert root.get("failures") == str(report.totals.failed) == str(len(list(root.iter("failure"))))


def test_every_format_has_a_renderer() -> None:
    report = json_format.read(REPORTS[0].read_text(encoding="utf-8"))
    assert [name for name in REPORT_FILES if not formats.render(name, report)] == []
