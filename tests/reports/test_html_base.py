"""What a change broke, in the HTML report."""

from pathlib import Path

import pytest

from rubric_ci.model.report import Against
from rubric_ci.model.results import BaseResult, CaseResult
from rubric_ci.reports import html_base, json_format
from tests.sample_reports import a_report, graded

REPORT = json_format.read(
    (Path(__file__).parents[1] / "golden/against.report.json").read_text(encoding="utf-8")
)
CASES = {case.id: case for case in REPORT.cases}
DIFF = (
    "<h4>Answer, compared with the base</h4><pre><del>&lt;b&gt;</del> <ins>&lt;i&gt;</ins> "
    "<span>word</span></pre>"
)


def compared(change: str) -> CaseResult:
    before = BaseResult(outcome="graded", verdict="pass", score=1.0, answer="<b> word")
    return graded("a", answer="<i> word", change=change, before=before)


@pytest.mark.parametrize(
    ("case", "badge"),
    [
        ("refund-in-time", '<span class="badge fail">broken by this change</span>'),
        ("warranty", '<span class="badge pass">fixed</span>'),
        ("address", '<span class="badge skipped">failing before as well</span>'),
        ("gift-card", '<span class="badge waived">new</span>'),
        ("greeting", '<span class="badge errored">not comparable</span>'),
        ("tone", ""),
    ],
)
def test_each_case_shows_its_class(case: str, badge: str) -> None:
    assert html_base.badge(CASES[case]) == badge


@pytest.mark.parametrize(
    ("change", "expected"),
    [("fixed", [DIFF]), ("failing-before", [DIFF]), ("broken", []), ("unchanged", [])],
)
def test_word_diff_of_a_case_that_the_section_does_not_show(
    change: str, expected: list[str]
) -> None:
    assert list(html_base.answers(compared(change))) == expected


def test_the_section_shows_what_the_change_broke() -> None:
    base = Against(ref="main", commit="a" * 40)
    lines = list(html_base.section(a_report(compared("broken"), against=base)))
    assert lines == [
        '<section class="base"><h2>Compared with the base</h2>',
        '<p class="meta"><code>aaaaaaaaaa</code>: 1 broken by this change</p>',
        '<article class="fail"><h3><span class="badge fail">broken by this change</span> <b>a</b>',
        "<small>pass → fail</small></h3>",
        DIFF,
        "",
        "</article>",
        "</section>",
    ]


def test_without_a_base_there_is_no_section() -> None:
    assert list(html_base.section(a_report(compared("broken")))) == []
