"""The tables per file and criterion, whose names are links that filter."""

import re

from rubric_ci.parts.formats.page import MOST, link
from tests.parts.formats.drawn import tables
from tests.sample_reports import a_criterion, a_report, graded, skipped

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
