"""Before and after, in the HTML report."""

import pytest

from rubric_ci.parts.formats.case_view import before_view, change_badge
from rubric_ci.reports.html_templates import case_anchor
from rubric_ci.values.report import Against
from rubric_ci.values.results import BaseResult, CaseResult
from tests.compared import compared
from tests.parts.formats import drawn
from tests.sample_reports import a_report, graded

DIFF = (
    "<h4>Answer, compared with the {}</h4><pre><del>&lt;b&gt;</del> <ins>&lt;i&gt;</ins> "
    "<span>word</span></pre>"
)
FOLDED = "<details><summary>Answer at the base</summary><pre>&lt;b&gt; word</pre></details>"


def badge(case: CaseResult) -> str:
    found = change_badge(case)
    return drawn.macro("case.html", "badge", found) if found else ""


def answers(case: CaseResult, noun: str) -> str:
    found = before_view(case, noun)
    return drawn.macro("case.html", "before", found) if found else ""


def changed(change: str) -> CaseResult:
    before = BaseResult(outcome="graded", verdict="pass", score=1.0, answer="<b> word")
    return graded("a", answer="<i> word", change=change, before=before)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("broken", DIFF.format("base")),
        ("better", DIFF.format("base")),
        ("failing-before", DIFF.format("base")),
        ("unchanged", FOLDED),
    ],
)
def test_both_answers(change: str, expected: str) -> None:
    case = changed(change)
    assert answers(case, "base") == expected


def test_a_case_of_a_comparison_is_marked_and_shows_both_answers() -> None:
    after = a_report(graded("a", "fail", answer="<i> word"), graded("b", "pass"))
    before = a_report(graded("a", "pass", answer="<b> word"), graded("b", "pass"))
    worse, same = compared(after, before).cases
    assert badge(worse) == '<span class="badge fail">broke</span>'
    assert answers(worse, "baseline") == DIFF.format("baseline")
    assert (badge(same), answers(same, "baseline")) == ("", "")


def test_the_section_shows_what_the_change_broke() -> None:
    against = Against(ref="main", commit="a" * 40)
    link = f'<a href="#{case_anchor("e.yaml", "a")}"><b>a</b></a>'
    text = drawn.part("comparison.html", a_report(changed("broken"), against=against))
    assert text == "".join(
        [
            '<section class="base"><h2>Compared with main aaaaaaaaaa</h2>',
            "<p><code>aaaaaaaaaa</code>: 0 pass (1 before)</p>",
            "<details open><summary>1 broke</summary>",
            f"<ul><li>{link} <small>pass → fail</small></li></ul>",
            "</details></section>",
        ]
    )


def test_without_a_comparison_there_is_no_section() -> None:
    assert drawn.part("comparison.html", a_report(changed("broken"))) == ""
