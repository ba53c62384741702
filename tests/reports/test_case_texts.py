"""Question, expected outcome and answer of a case, in each format that has room for them."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import Any

import pytest

from rubric_ci.reports import annotations, formats, markdown, terminal, wording
from rubric_ci.reports.markdown import Links
from rubric_ci.values.answers import pictures_of
from rubric_ci.values.results import CaseResult
from tests.pictures import media, png
from tests.sample_reports import a_criterion, a_report, a_rubric, errored, graded, skipped

TEXTS: dict[str, Any] = {"question": "Why?", "expected_outcome": "A reason."}


@pytest.mark.parametrize(
    ("case", "texts"),
    [
        pytest.param(
            graded("a", **TEXTS, answer="So."),
            [("Question", "Why?"), ("Expected outcome", "A reason."), ("Answer", "So.")],
            id="all",
        ),
        pytest.param(
            graded("a", question="Why?"),
            [("Question", "Why?"), ("Answer", "(empty)")],
            id="an empty answer",
        ),
        pytest.param(graded("a"), [], id="a report without questions"),
        pytest.param(errored("a", question="Why?"), [("Question", "Why?")], id="no answer"),
        pytest.param(skipped("a"), [], id="skipped"),
    ],
)
def test_texts(case: CaseResult, texts: list[tuple[str, str]]) -> None:
    assert wording.texts(case) == texts


def test_each_format_names_the_part_of_the_work_that_a_quote_is_from() -> None:
    quotes = a_criterion("a", quoted_from="tool_calls"), a_criterion("b", quoted_from="answer")
    report = a_report(graded("a", "fail", *quotes, answer="a quote"))
    page = formats.render("html", report)
    assert page.count("<blockquote>quote") == 2
    assert page.count("<blockquote>quote<small> (tool calls)</small>") == 1
    shown = {
        "Quote (tool calls): quote": formats.render("junit", report),
        "%0AQuote (tool calls): quote": annotations.render(report),
    }
    for expected, text in shown.items():
        assert text.count(expected) == text.count("tool calls") == 1, expected
    # At the top, and with the details of the case.
    text = markdown.render(report)
    assert text.count("> “quote” (tool calls)\n") == text.count("tool calls") == 2
    text = terminal.render(report, width=90, color=False)
    assert text.count("    “quote” (tool calls)\n") == text.count("tool calls") == 2


@pytest.mark.parametrize(
    ("evaluator", "criterion", "label"),
    [("rubric", "tone", "rubric/tone"), ("turn-2", "turn-2/rubric-1", "turn-2/rubric-1")],
)
def test_the_evaluator_of_a_criterion_is_named_once(
    evaluator: str, criterion: str, label: str
) -> None:
    own, other = a_rubric(a_criterion(criterion), name=evaluator), a_rubric(name="z")
    report = a_report(graded("a", "fail", evaluators=(own, other)))
    assert f" · {label} · " in terminal.render(report, width=200, color=False)


def test_a_quote_from_the_work_is_not_highlighted_in_the_answer() -> None:
    case = graded("a", "fail", a_criterion(quoted_from="tool_calls"), answer="a quote", **TEXTS)
    assert "<mark>" not in formats.render("html", a_report(case)).partition("Answer")[2]


def test_html_shows_them_before_the_evaluators() -> None:
    case = graded("a", "fail", a_criterion(), **TEXTS, answer="So <b>.")
    page = formats.render("html", a_report(case))
    assert re.findall(r"<h[34]>(\w[\w ]+?)(?:</h4><pre>(.*?)</pre>| <small>)", page) == [
        ("Question", "Why?"),
        ("Expected outcome", "A reason."),
        ("Answer", "So &lt;b&gt;."),
        ("rubric", ""),
    ]


def test_junit_has_them_as_output_of_the_case() -> None:
    root = ET.fromstring(formats.render("junit", a_report(graded("a", **TEXTS, answer="]]>"))))
    assert [out.text for out in root.iter("system-out")] == [
        "Question:\nWhy?\n\nExpected outcome:\nA reason.\n\nAnswer:\n]]>"
    ]


def test_markdown_shows_their_beginnings() -> None:
    case = graded("a", question="Why?\nPlease.", expected_outcome="x" * 401, answer="*So*")
    assert (
        "**Question**\n\n> ```text\n> Why?\n> Please.\n> ```\n\n"
        f"**Expected outcome**\n\n> {'x' * 401}\n\n"
        "**Answer**\n\n> \\*So\\*\n"
    ) in markdown.render(a_report(case))


def test_markdown_quotes_lines_that_would_scroll_on_a_phone() -> None:
    wide = "- " + "x " * 20
    case = graded("a", question=f"{wide}\nb\n\n{wide}", answer=f"def f():\n    return '{wide}'")
    quoted = "\\- " + ("x " * 20).strip()
    assert (
        f"**Question**\n\n> {quoted}\\\n> b\n> \n> {quoted}\n\n"
        f"**Answer**\n\n> ```text\n> def f():\n>     return '{wide}'\n> ```\n"
    ) in markdown.render(a_report(case))


PROMPT = "[system]\n" + "Be kind. " * 50


@pytest.mark.parametrize(
    ("question", "brief"),
    [
        pytest.param("[system]\nS\n\n[user]\nWhy?", "[system]\nS\n\n[user]\nWhy?", id="short"),
        pytest.param(f"{PROMPT}\n\n[user]\nWhy?", "…[user]\nWhy?", id="a long system prompt"),
        pytest.param(
            f"{PROMPT}\n\n[user]\nA\n\n[assistant]\nB\n\n[user]\nWhy?",
            "…[user]\nWhy?",
            id="a conversation",
        ),
        pytest.param("Why? " * 99, "Why? " * 99, id="one message"),
        pytest.param(f"{PROMPT}\n\n[user]\n ", f"{PROMPT}\n\n[user]\n ", id="an empty message"),
    ],
)
def test_a_long_system_prompt_does_not_hide_the_question(question: str, brief: str) -> None:
    assert wording.brief_question(question, 400) == brief


def test_markdown_and_terminal_show_the_last_message_of_a_long_question() -> None:
    report = a_report(graded("a", "fail", question=f"{PROMPT * 5}\n\n[user]\nWhy?"))
    assert "**Question**\n\n> ```text\n> …[user]\n> Why?\n> ```" in markdown.render(report)
    assert "      …[user]\n      Why?\n" in terminal.render(
        report, detail="full", width=80, color=False
    )


def test_a_comment_links_the_images_of_a_case_at_the_commit() -> None:
    shot, answer = media("shots/my cart.png", png(4, 3)), media("out/a|b.png", png(5, 5))
    found = (*pictures_of("question", [shot]), *pictures_of("answer", [answer]))
    hostile = replace(found[0], path="../../evil/x](http://a.example).png")
    report = a_report(graded("a", "fail", a_criterion(), **TEXTS, media=(*found, hostile)))
    text = markdown.render(report, links=Links(blob="https://github.example/acme/shop/blob/0a1b"))
    assert (
        "**Images and documents**\n\n"
        "- question [shots/my cart.png]"
        "(https://github.example/acme/shop/blob/0a1b/shots/my%20cart.png)\n"
        "- answer `out/a|b.png`\n"
        "- question ../../evil/x\\](http:&#8203;//a.example).png\n"
    ) in text
