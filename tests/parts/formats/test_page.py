"""The page as a whole and in parts: policy, pieces, overview, filters, tables as links."""

import base64
import hashlib
import json
import re
from typing import Any

import pytest

from rubric_ci.parts.formats import page
from rubric_ci.parts.formats.groups import criterion_groups
from rubric_ci.parts.formats.page import MOST, link, script_data
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import CaseResult
from rubric_ci.values.usage import Usage
from tests.compared import compared
from tests.parts.formats import drawn
from tests.parts.formats.drawn import tables
from tests.sample_reports import a_criterion, a_report, errored, graded, skipped


def digests(tag: str, text: str) -> list[str]:
    found = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
    hashes = (hashlib.sha256(each.encode()).digest() for each in found)
    return [f"'sha256-{base64.b64encode(digest).decode()}'" for digest in hashes]


def test_the_policy_allows_the_script_and_the_style_of_the_page_only() -> None:
    text = page.render(a_report(graded("a")))
    [policy] = re.findall('http-equiv="Content-Security-Policy" content="(.*?)"', text)
    [script], [style] = digests("script", text), digests("style", text)
    assert policy == (
        f"default-src 'none'; script-src {script}; style-src {style}; "
        "base-uri 'none'; form-action 'none'"
    )


def test_a_case_is_a_piece() -> None:
    report = a_report(*(graded(f"c{number}", answer="word " * 1000) for number in range(50)))
    assert max(map(len, page.pieces(report))) < 40_000
    assert page.render(report) == "".join(page.pieces(report))
    assert page.render(report).count("<noscript><details") == 50


@pytest.mark.parametrize(
    ("cases", "opened"),
    [
        ([graded("a"), errored("b"), graded("c", "borderline"), graded("d", "pass")], 3),
        ([graded(f"c{number}") for number in range(page.OPENED + 1)], page.OPENED),
        ([graded("a", change="failing-before"), graded("b")], 1),
    ],
    ids=["urgent ones", "the first ones", "not those that failed before"],
)
def test_open_cases(cases: list[CaseResult], opened: int) -> None:
    assert (
        len(re.findall('<details class="case [a-z]+" open>', page.render(a_report(*cases))))
        == opened
    )


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
    assert (worse["changes"], worse["difference"]) == (["broke"], -1.0)
    assert (same["changes"], same["difference"]) == (["not comparable"], None)


def test_without_cases_there_is_no_bar() -> None:
    assert "<svg" not in drawn.part("overview.html", a_report())
    assert "0 cases" in drawn.part("overview.html", a_report())


def test_a_choice_for_each_outcome() -> None:
    text = drawn.part("filters.html", a_report(graded("a"), graded("b", "pass"), skipped("s")))
    assert re.findall(r'id="show-(\w+)"( checked)?> ([^<]+)<', text) == [
        ("all", " checked", "all 3"),
        ("pass", "", "1 passed"),
        ("fail", "", "1 failed"),
        ("skipped", "", "1 skipped"),
    ]


def test_without_cases_there_are_no_filters() -> None:
    assert drawn.part("filters.html", a_report()) == ""


REPORT = a_report(
    graded("a", "fail", a_criterion("c<")), graded("b", "pass", file="dir/a&b.yaml"), skipped("s")
)
CELL = "<t[dh].*?</t[dh]>"


def rows(text: str) -> list[list[str]]:
    found = re.findall(r"<tr.*?>(.*?)</tr>", text)
    return [
        [re.sub("<[^>]+>", "", cell) for cell in re.findall("<t[dh].*?</t[dh]>", row)]
        for row in found
    ]


def test_rows() -> None:
    assert rows(tables(REPORT)) == [
        ["Eval file", "passed", "failed", "skipped", "mean score", "cost"],
        ["e.yaml", "", "1", "1", "0.00", ""],
        ["dir/a&amp;b.yaml", "1", "", "", "1.00", ""],
        ["Criterion", "cases", "missed", "mean mark"],
        ["c&lt;asked", "1", "1", "0.00"],
    ]


def test_links_stay_on_the_page() -> None:
    addresses = re.findall('href="([^"]*)"', tables(REPORT))
    assert [address[:6] for address in addresses] == ["#file=", "#file=", "#crite", "#crite"]
    assert addresses[1] == "#file=dir%2Fa%26b.yaml"
    assert link(file='"><script>', tag="a b") == "#file=%22%3E%3Cscript%3E&tag=a+b"


def test_a_table_has_a_most() -> None:
    report = a_report(*(graded(f"c{n}", "pass", file=f"{n}.yaml") for n in range(MOST + 1)))
    text = tables(report)
    assert len(rows(text)) == 1 + MOST
    assert "<summary>501 eval files</summary>" in text
    assert "The first 500 of 501 are shown." in text


def test_nothing_without_cases() -> None:
    assert tables(a_report()) == ""
