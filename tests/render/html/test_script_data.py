"""The data of the script is JSON that cannot end its element."""

import json
from typing import Any

import pytest

from rubric_ci.model.report import RunReport
from rubric_ci.model.usage import Usage
from rubric_ci.render.html.groups import criterion_groups
from rubric_ci.render.html.script_data import script_data
from tests.compared import compared
from tests.sample_reports import a_criterion, a_report, errored, graded, skipped

HOSTILE = "</script><!--<script>&\u2028\u2029\u202e\ud800\x00"


def data_of(report: RunReport) -> Any:
    return json.loads(text_of(report))


def text_of(report: RunReport) -> str:
    return "".join(script_data(report.cases, criterion_groups(report), report))


def test_facts_of_a_case() -> None:
    criteria = (a_criterion("c"), a_criterion("met", normalised=1.0, gated=False))
    case = graded("a", "fail", *criteria, tags=("t",), usage=Usage(calls=1, cost_usd=0.5))
    data = data_of(a_report(skipped("s"), case, errored("e")))
    assert [name for _, name, _ in data["criteria"]] == ["c", "met"]
    assert [each["position"] for each in data["cases"]] == [0, 1, 2]
    assert [each["status"] for each in data["cases"]] == ["skipped", "fail", "errored"]
    assert data["cases"][1] == {
        "anchor": data["cases"][1]["anchor"],
        "id": "a",
        "status": "fail",
        "score": 0.0,
        "file": "e.yaml",
        "tags": ["t"],
        "criteria": [0, 1],
        "missed": [0],
        "changes": [],
        "cost": 0.5,
        "difference": None,
        "position": 1,
    }


@pytest.mark.parametrize("sign", "<>&\u2028\u2029\u202e\ud800\x00")
def test_hostile_text_stays_inside(sign: str) -> None:
    text = text_of(a_report(graded(HOSTILE, "fail", a_criterion(HOSTILE), file=HOSTILE)))
    assert sign not in text
    assert json.loads(text)["cases"][0]["id"].startswith("</script><!--<script>&\\u2028")


def test_a_case_has_its_change_and_difference() -> None:
    report = compared(
        a_report(graded("a", "fail"), graded("b", "pass")),
        a_report(graded("a", "pass"), errored("b")),
    )
    worse, same = data_of(report)["cases"]
    assert (worse["changes"], worse["difference"]) == (["broken"], -1.0)
    assert (same["changes"], same["difference"]) == (["not comparable"], None)
