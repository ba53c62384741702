"""The page as a whole: its policy, its pieces, and what is open."""

import base64
import hashlib
import re

import pytest

from rubric_ci.model.results import CaseResult
from rubric_ci.render.html import page
from tests.sample_reports import a_report, errored, graded


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
