"""Before and after, in the HTML report."""

from dataclasses import replace
from pathlib import Path

import pytest

from rubric_ci.comparison.compare import compare
from rubric_ci.model.report import Against
from rubric_ci.model.results import BaseResult, CaseResult
from rubric_ci.render.html import base
from rubric_ci.render.html.anchors import case_anchor
from rubric_ci.render.html.view import view_of
from rubric_ci.report import json_format
from tests.sample_reports import a_report, graded

REPORT = json_format.read(
    (Path(__file__).parents[2] / "golden/against.report.json").read_text(encoding="utf-8")
)
CASES = {case.id: case for case in REPORT.cases}
DIFF = (
    "<h4>Answer, compared with the {}</h4><pre><del>&lt;b&gt;</del> <ins>&lt;i&gt;</ins> "
    "<span>word</span></pre>"
)
FOLDED = "<details><summary>Answer at the base</summary><pre>&lt;b&gt; word</pre></details>"


def compared(change: str) -> CaseResult:
    before = BaseResult(outcome="graded", verdict="pass", score=1.0, answer="<b> word")
    return graded("a", answer="<i> word", change=change, before=before)


@pytest.mark.parametrize(
    ("case", "badges"),
    [
        ("refund-in-time", ['<span class="badge fail">broken by this change</span>']),
        ("warranty", ['<span class="badge pass">fixed</span>']),
        ("address", ['<span class="badge skipped">failing before as well</span>']),
        ("gift-card", ['<span class="badge waived">new</span>']),
        ("greeting", ['<span class="badge errored">not comparable</span>']),
        ("tone", []),
    ],
)
def test_each_case_shows_its_class(case: str, badges: list[str]) -> None:
    assert list(base.badges(CASES[case], view_of(REPORT))) == badges


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("broken", [DIFF.format("base")]),
        ("fixed", [DIFF.format("base")]),
        ("failing-before", [DIFF.format("base")]),
        ("unchanged", [FOLDED]),
    ],
)
def test_both_answers(change: str, expected: list[str]) -> None:
    case = compared(change)
    assert list(base.before(case, view_of(a_report(case)))) == expected


def test_a_case_of_a_comparison_is_marked_and_shows_both_answers() -> None:
    after = a_report(graded("a", "fail", answer="<i> word"), graded("b", "pass"))
    before = a_report(graded("a", "pass", answer="<b> word"), graded("b", "pass"))
    report = replace(after, comparison=compare(after, before))
    worse, same = report.cases
    view = view_of(report)
    assert list(base.badges(worse, view)) == ['<span class="badge fail">regressed</span>']
    assert base.verdicts(worse, view) == "pass 1.00 → fail 0.00"
    assert list(base.before(worse, view)) == [DIFF.format("baseline")]
    assert [*base.badges(same, view), base.verdicts(same, view), *base.before(same, view)] == [""]


def test_the_section_shows_what_the_change_broke() -> None:
    against = Against(ref="main", commit="a" * 40)
    link = f'<a href="#{case_anchor("e.yaml", "a")}"><b>a</b></a>'
    lines = list(base.section(a_report(compared("broken"), against=against)))
    assert lines == [
        '<section class="base"><h2>Compared with the base</h2>',
        "<p><code>aaaaaaaaaa</code>: 1 broken by this change</p>",
        f"<ul><li>{link} <small>pass → fail</small></li></ul>",
        "</section>",
    ]


def test_without_a_base_there_is_no_section() -> None:
    assert list(base.section(a_report(compared("broken")))) == []
