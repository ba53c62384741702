"""One case of the page: what is visible while it is folded, and its body."""

import re

import pytest

from rubric_ci.parts.formats.case_view import case_view
from rubric_ci.reports.html_templates import case_anchor
from rubric_ci.values.results import CaseResult, Trial
from tests.parts.formats import drawn
from tests.sample_reports import a_criterion, a_report, a_rubric, errored, graded, skipped

TRIALS = (Trial(verdict="pass", score=1.0), Trial(verdict="fail", score=0.0))


def shown(case: CaseResult, *, opened: bool = False) -> str:
    return drawn.macro("case.html", "case", case_view(case, a_report(case), opened=opened))


def words(text: str) -> list[str]:
    return [word for word in re.split(r"<[^>]*>", text) if word.strip()]


FOLDED = {
    "graded": (graded("a", "fail"), ["fail", "a", "0.00", "because", "#"]),
    "errored": (errored("a"), ["no verdict", "a", "the judge was silent", "#"]),
    "skipped": (skipped("a"), ["skipped", "a", "no rubrics", "#"]),
    "trials": (
        graded("a", trials=TRIALS),
        ["fail", "a", "1 of 2 trials pass", "0.00", "because", "#"],
    ),
    "warnings": (
        graded("a", evaluators=(a_rubric(warnings=("w",)),)),
        ["fail", "a", "⚠ 1 warning", "0.00", "because", "#"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("case", "expected"), FOLDED.values(), ids=FOLDED)
def test_what_is_visible_while_it_is_folded(case: CaseResult, expected: list[str]) -> None:
    summary = shown(case).partition("</summary>")[0]
    assert words(summary) == expected


def test_the_anchor_is_inside_so_that_a_link_opens_the_case() -> None:
    anchor = case_anchor("e.yaml", "a")
    assert re.search(f'</summary><div id="{anchor}">.*</div></details>$', shown(graded("a")))
    assert f'<a class="link" href="#{anchor}"' in shown(graded("a"))


def test_open_or_not() -> None:
    assert shown(graded("a"), opened=True).startswith('<details class="case fail" open>')
    assert shown(graded("a")).startswith('<details class="case fail"><summary>')


def test_quotes_are_highlighted_in_the_answer() -> None:
    quotes = (a_criterion("b", evidence="<b>"), a_criterion("c", evidence="is it"))
    text = shown(graded("a", "fail", *quotes, answer="This is it: <b>.", question="Q"))
    assert "<pre>This <mark>is it</mark>: <mark>&lt;b&gt;</mark>.</pre>" in text


def test_tags_and_target() -> None:
    text = shown(graded("a", tags=("<t>",), target="default", why="the `prompt` changed"))
    assert words(text.partition('class="meta">')[2])[:6] == [
        "e.yaml:3", " · ", "&lt;t&gt;", " · target default · ran because the ", "prompt",
        " changed",
    ]  # fmt: skip
