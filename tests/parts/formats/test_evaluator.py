"""The rows of an evaluator: mark, level or range, votes, and the mark at the base."""

import re
from dataclasses import replace
from typing import Any

import pytest

from rubric_ci.parts.formats.case_view import evaluator_view
from rubric_ci.reports.html_templates import criterion_anchor
from rubric_ci.values.results import BaseResult, CriterionResult, Unassessed
from tests.compared import compared
from tests.parts.formats import drawn
from tests.sample_reports import a_criterion, a_report, a_rubric, graded

LEVEL = a_criterion(
    "tone", kind="levels", mark=3, normalised=0.5, gated=False, gate="", met="3 (dry): no <b>"
)


def rows(criterion: CriterionResult, before: CriterionResult | None = None) -> str:
    base = BaseResult(outcome="graded", evaluators=(a_rubric(before),)) if before else None
    case = graded("a", "fail", criterion, before=base)
    report = compared(a_report(case), a_report(graded("a")))
    shown = evaluator_view(case.evaluators[0], case, report)
    return drawn.macro("case.html", "evaluator", shown)


def words(text: str) -> list[str]:
    return [word for word in re.split(r"<[^>]*>", text) if word.strip()]


ROWS = {
    "level": (
        rows(LEVEL),
        ["tone", "#", "asked", "levels, weight 1, line 5", "level 3", "3 (dry): no &lt;b&gt;",
         "said", "quote"],
    ),
    "check": (
        rows(a_criterion("c")),
        ["c", "#", "asked", "checklist, required, weight 1, line 5", "not satisfied", "said",
         "quote"],
    ),
    "another mark at the base": (
        rows(LEVEL, replace(LEVEL, mark=5)),
        ["tone", "#", "asked", "levels, weight 1, line 5", "level 3", "3 (dry): no &lt;b&gt;",
         "was level 5 at the baseline", "said", "quote"],
    ),
    "the same mark at the base": (
        rows(replace(LEVEL, met=""), LEVEL),
        ["tone", "#", "asked", "levels, weight 1, line 5", "level 3", "said", "quote"],
    ),
    "a quote from the work": (
        rows(replace(LEVEL, met="", quoted_from="file_changes")),
        ["tone", "#", "asked", "levels, weight 1, line 5", "level 3", "said", "quote",
         " (file changes)"],
    ),
    "votes": (
        rows(replace(LEVEL, met="", votes=(3, 4))),
        ["tone", "#", "asked", "levels, weight 1, line 5", "level 3",
         "votes differ: level 3, level 4", "said", "quote"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), ROWS.values(), ids=ROWS)
def test_a_row(text: str, expected: list[str]) -> None:
    assert words(text.partition("<tbody>")[2]) == expected


def test_a_row_has_an_anchor() -> None:
    assert f'<tr id="{criterion_anchor("e.yaml", "a", "rubric", "tone")}">' in rows(LEVEL)


@pytest.mark.parametrize(
    ("facts", "tone"),
    [
        ({"gated": True}, "fail"),
        ({"gated": False, "normalised": 0.5}, "borderline"),
        ({"gated": False, "normalised": 1.0}, "pass"),
    ],
)
def test_the_tone_of_a_mark(facts: dict[str, Any], tone: str) -> None:
    assert f'<span class="badge {tone}">level 3</span>' in rows(replace(LEVEL, **facts))


def test_no_result() -> None:
    case = graded("a")
    failed = Unassessed(name="<r>", type="rubric", weight=1.0, line=1, reason="`x` is down")
    text = drawn.macro("case.html", "evaluator", evaluator_view(failed, case, a_report(case)))
    assert words(text) == ["&lt;r&gt; ", "rubric, weight 1", "no result: ", "x", " is down"]


def test_a_list_without_entries_has_no_title() -> None:
    assert drawn.macro("parts.html", "titled_list", "Missed", ()) == ""
    shown = drawn.macro("parts.html", "titled_list", "Missed", ("<b>",))
    assert shown == "<h4>Missed</h4><ul><li>&lt;b&gt;</li></ul>"


def test_an_exceeded_limit_is_shown_once() -> None:
    over = "60 of at most 50 output tokens"
    case = graded("c", "fail", evaluators=(a_rubric(reasoning=over, misses=(over, "no greeting")),))
    shown = evaluator_view(case.evaluators[0], case, a_report(case))
    assert (shown.reasoning, shown.lists) == (over, (("Missed", ("no greeting",)),))
