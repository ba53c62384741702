"""A comparison as markdown, text, JSON and in the page."""

import json
import re
from dataclasses import replace

from rubric_ci.reports import comparison_section, formats
from rubric_ci.reports.comparison_section import is_cut, lower_marks, word_runs
from rubric_ci.values.results import BaseResult
from tests.compared import compared
from tests.sample_reports import a_criterion, a_report, a_rubric, errored, graded

THEN = a_report(
    graded("a|b", "pass"), graded("same", "pass"), graded("lost", "pass"), graded("gone", "pass")
)
NOW = a_report(
    graded("a|b", "fail"), graded("same", "pass"), errored("lost"), graded("<new>", "pass")
)
WORSE = compared(NOW, THEN)
SAME = compared(THEN, THEN)


def test_html_shows_the_change_of_each_case() -> None:
    page = formats.render("html", WORSE)
    marks = re.findall(
        r'<b>([^<]+)</b>((?:<span class="badge|<small).*?)?<span class="score">', page
    )
    assert marks == [
        ("a|b", '<span class="badge fail">broke</span><small>pass 1.00 → fail 0.00</small>'),
        ("lost", '<span class="badge errored">not comparable</span>'),
        ("same", ""),
        ("&lt;new&gt;", '<span class="badge waived">new</span>'),
    ]


def test_text() -> None:
    assert comparison_section.text(WORSE) == (
        "e.yaml: a|b: ▼ broke: pass 1.00 → fail 0.00\n"
        "e.yaml: <new>: new\n"
        "e.yaml: lost: not comparable\n"
        "e.yaml: gone: removed\n"
        "1 pass (2 before)\n"
        "a|b broke. Passed before, not now, in one answer each\n"
        "New: <new>\n"
        "Removed: gone\n"
        "Not comparable: lost (no verdict: the judge was silent)\n"
        "1 case broke: a|b\n"
    )


def test_text_of_no_change() -> None:
    assert comparison_section.text(SAME) == ("4 pass (4 before)\nNothing broke\n")


def test_json() -> None:
    shown = json.loads(comparison_section.json(WORSE))
    assert (shown["version"], shown["comparison"]["worse"], len(shown["cases"])) == (1, True, 4)
    case = shown["cases"][0]
    assert case.pop("before")["verdict"] == "pass"
    assert case == {
        "file": "e.yaml",
        "line": 3,
        "id": "a|b",
        "outcome": "graded",
        "verdict": "fail",
        "score": 0.0,
        "change": "broken",
        "change_reason": "",
    }
    assert shown["removed"] == [{"file": "e.yaml", "id": "gone"}]


def test_a_case_without_a_verdict_in_either_report() -> None:
    found = compared(a_report(errored("lost")), a_report(errored("lost")))
    assert comparison_section.text(found).splitlines()[0] == "e.yaml: lost: not comparable"


def test_words_that_differ() -> None:
    assert list(word_runs("You get a refund today", "You get nothing today")) == [
        ("same", "You get"),
        ("removed", "a refund"),
        ("added", "nothing"),
        ("same", "today"),
    ]


def test_only_the_first_words_are_compared() -> None:
    assert [is_cut("a " * n, "b") for n in (200, 201)] == [False, True]
    assert [kind for kind, _ in word_runs("a " * 201, "a " * 200)] == ["same"]


def test_only_marks_that_fell_are_named() -> None:
    met = a_criterion("c", normalised=1.0, mark=True, gated=False)
    other = replace(met, id="d")
    then = BaseResult(outcome="graded", evaluators=(a_rubric(met, other),))
    case = graded("a", "fail", a_criterion("c"), other, before=then)
    assert list(lower_marks(case)) == [("c", "1.00 → 0.00", "said")]
    assert list(lower_marks(graded("a", "fail", a_criterion("c")))) == []
