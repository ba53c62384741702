"""The height of a comment in a browser, at the width and with the style of GitHub's comments."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import cmarkgfm
import pytest
from cmarkgfm import cmark

from rubric_ci.reports import markdown
from rubric_ci.values.report import Against, RunReport
from rubric_ci.values.results import BaseResult, CriterionResult, Graded
from tests import chromium
from tests.sample_reports import a_criterion, a_report, a_rubric, errored, graded

pytestmark = pytest.mark.skipif(chromium.find() is None, reason=chromium.MISSING)

WIDTH: Final = 760  # pixels of the text of a comment, in a window of 1,280
STYLE: Final = """
body { margin: 0; width: 760px; font: 14px/1.5 "Noto Sans", sans-serif }
h2 { font-size: 1.5em; line-height: 1.25; margin: 0 0 16px; padding-bottom: .3em }
p, ul, table, details, blockquote { margin: 0 0 16px } ul { padding-left: 2em }
td, th { padding: 6px 13px; border: 1px solid }
"""
BEFORE: Final = "You can send the shoes back within 30 days, and we pay for the parcel. " * 4
NOW: Final = "You can send the shoes back at any time, but you pay for the parcel. " * 4
REASON: Final = "The answer gives no period, so that a customer may believe that there is no limit."
BASE: Final = Against(ref="main", commit="a" * 40, committed_at="2026-11-20T10:00:00+00:00")


def criterion(number: int, *, met: bool) -> CriterionResult:
    return a_criterion(
        f"rubric-{number}", text="Names the period of 30 days after delivery", mark=met,
        normalised=float(met), gated=not met, reasoning=REASON,
    )  # fmt: skip


def broken(number: int) -> Graded:
    then = a_rubric(*(criterion(each, met=True) for each in (1, 2)), verdict="pass", score=1.0)
    return graded(
        f"return-shoes-{number:02}", "fail", *(criterion(each, met=False) for each in (1, 2)),
        question="May I send the shoes back, and who pays for the parcel? " * 2, answer=NOW,
        reason=f"`rubric-1` is required and not satisfied: {REASON} (and 1 more missed gate)",
        change="broken",
        before=BaseResult(
            outcome="graded", verdict="pass", score=1.0, answer=BEFORE, evaluators=(then,)
        ),
    )  # fmt: skip


@pytest.fixture(scope="module")
def browser() -> Iterator[chromium.Browser]:
    with chromium.running(str(chromium.find())) as running:
        yield running


def height(report: RunReport, browser: chromium.Browser, folder: Path) -> int:
    """Return the height in pixels, with what is folded as a reader finds it."""
    text = markdown.render(report, limit=markdown.COMMENT_LIMIT, most=markdown.COMMENT_CASES)
    shown = cmarkgfm.markdown_to_html_with_extensions(
        text, cmark.Options.CMARK_OPT_UNSAFE, ["table", "strikethrough"]
    )
    file = folder / "comment.html"
    file.write_text(f"<!doctype html><meta charset=utf-8><style>{STYLE}</style>{shown}", "utf-8")
    with chromium.tab(browser) as page:
        page.open(file.as_uri())
        return int(page.get("document.documentElement.getBoundingClientRect().height"))


def test_a_change_that_breaks_forty_cases(browser: chromium.Browser, tmp_path: Path) -> None:
    cases = (*map(broken, range(40)), *(graded(f"ok-{n}", "pass") for n in range(20)))
    assert 300 < height(a_report(*cases, against=BASE), browser, tmp_path) <= 1_600


def test_one_error_of_the_setup_in_forty_cases(browser: chromium.Browser, tmp_path: Path) -> None:
    cases = (errored(f"return-shoes-{n:02}", "OPENAI_API_KEY is not set") for n in range(40))
    assert 100 < height(a_report(*cases), browser, tmp_path) <= 400
