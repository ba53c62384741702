"""Reports as SARIF: what GitHub's own check asks for, and fingerprints that survive moves."""

import json
from pathlib import Path
from typing import Any

import pytest

from rubric_ci.parts.formats import sarif
from rubric_ci.values.report import RunReport
from tests import sarif_multitool
from tests.sample_reports import a_criterion, a_report, errored, graded, skipped

GOLDEN = Path(__file__).parents[2] / "golden"


def results(report: RunReport) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(sarif.render(report))["runs"][0]["results"]
    return found


@pytest.mark.slow
@sarif_multitool.INSTALLED
def test_github_code_scanning_takes_it(tmp_path: Path) -> None:
    names = ("mixed", "pass", "nothing-changed")
    logs = [json.loads((GOLDEN / f"{name}.sarif").read_text("utf-8")) for name in names]
    together = {**logs[0], "runs": [run for log in logs for run in log["runs"]]}
    found = sarif_multitool.validate(tmp_path, json.dumps(together), "--rule-kind", "Sarif;Ghas")
    assert [result for result in found if result.get("level") == "error"] == []


def test_levels_and_rules() -> None:
    report = a_report(
        graded("a", "fail", a_criterion(line=9)),
        graded("b", "borderline", a_criterion(gated=False)),
        errored("c"),
        skipped("d"),
    )
    assert [(r["ruleId"], r["level"]) for r in results(report)] == [
        ("fail", "error"),
        ("no-verdict", "error"),
        ("borderline", "warning"),
        ("skipped", "note"),
    ]


def test_the_fingerprint_depends_neither_on_line_nor_on_wording() -> None:
    one = graded("a", "fail", a_criterion("tone", line=9, reasoning="rude"))
    two = graded("a", "fail", a_criterion("tone", line=30, reasoning="curt"), line=20)
    other = graded("a", "fail", a_criterion("form", line=9, reasoning="rude"))
    prints = [results(a_report(case))[0]["partialFingerprints"] for case in (one, two, other)]
    assert prints[0] == prints[1] != prints[2]


def test_paths_are_uris() -> None:
    case = graded("a", "fail", a_criterion(line=9), file="evals/ä b#1.yaml")
    place = results(a_report(case))[0]["locations"][0]["physicalLocation"]
    assert place == {
        "artifactLocation": {"uri": "evals/%C3%A4%20b%231.yaml"},
        "region": {"startLine": 9},
    }


def test_text_is_not_a_link() -> None:
    case = graded("a", "fail", a_criterion(reasoning="[click](https://evil.example)"))
    assert "[click] (https://evil.example)" in results(a_report(case))[0]["message"]["text"]
