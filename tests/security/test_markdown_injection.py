"""Markdown injection: hundreds of random hostile reports through GitHub's own parser.

Nothing of a report's text becomes a link, an image, a tag, a mention or a reference.
"""

import re
from dataclasses import replace
from random import Random

import pytest
from hypothesis import settings

from rubric_ci.parts.formats.page import render
from rubric_ci.text import escape
from tests.compared import compared
from tests.reports.test_hostile import (
    ALLOWED_TAGS,
    HOSTILE,
    LINKED_BY_GITHUB,
    Page,
    in_full_and_as_tables,
    page,
)
from tests.sample_reports import a_criterion, a_report, a_rubric, errored, graded, skipped

SIGNS = r"""
* ** _ __ ~ ~~ ` `` ``` \ \\ | < > & ! # [ ] ( ) ]( [x]( ![ ]: [^ - + = : :: $ $$ { } a 0 .
www.evil.example _www.evil.example *www.evil.example (www.evil.example ~www.e.f --- === |--|
https://evil.example _http://evil.example ftp://e.f //evil.example HtTpS://e.f <https://e.f>
a@evil.example _a@evil.example mailto:a@e.f xmpp:a@e.f/b _mailto:a@e.f <a@e.f> @octocat _@octocat
@acme/team #1 _#1 GH-1 _GH-1 acme/app#1 :tada: </details> </summary> </td></tr></table> <!-- -->
<b /> &lt; &#60; &commat; &#x40;o &nbsp; <img/src=//e.f> <a/href=//e.f>
"""
PIECES = (
    *HOSTILE.values(),
    *SIGNS.split(),
    *("\n", "\n\n", "\r", "\t", " ", "  \n", "    ", "1. ", "- ", "> ", "# ", "[x] ", "\u00a0"),
    *("\u2028", "\x85", "\x0b", "\u200b", "\u200d", "\ufe0f", "\u6f22", "\xe9", "👩\u200d💻"),
)
BATCHES = 6


def text(random: Random) -> str:
    return "".join(random.choice(PIECES) for _ in range(random.randint(1, 9)))


def report(random: Random) -> str:
    """Return the markdown of a report with another hostile text in each place."""

    def any_() -> str:
        return text(random)

    criterion = a_criterion(any_(), text=any_(), reasoning=any_(), evidence=any_(), gate=any_())
    rubric = a_rubric(
        criterion, name=any_(), type=any_(), warnings=(any_(),), misses=(any_(),), judge=any_()
    )
    other = a_rubric(name=any_(), reasoning=any_(), misses=(any_(),))
    failing = replace(
        graded(any_(), evaluators=(rubric, other), reason=any_(), why=any_(), target=any_()),
        file=any_(),
        question=any_(),
        expected_outcome=any_(),
        answer=any_(),
    )
    passing = graded(any_(), "pass", why=any_(), file=any_())
    cases = (failing, passing, errored(any_(), any_()), skipped(any_(), any_()))
    whole = a_report(*cases, notes=(any_(),))
    then = replace(failing, answer=any_(), verdict="pass", score=1.0)
    found = compared(whole, a_report(skipped(any_()), then))
    assert found.comparison
    told = replace(found.comparison, notes=(any_(),))
    return in_full_and_as_tables(replace(found, comparison=told))


def alive(shown: Page) -> list[object]:
    """Return what is not inert."""
    return [
        *sorted(shown.tags - ALLOWED_TAGS),
        *sorted(shown.attributes - {"href", "align", "style", "open"}),
        *(target for target in shown.targets if not target.startswith("https://ours.example/")),
        *LINKED_BY_GITHUB.findall(shown.live.replace("rubric-ci", "")),
        *shown.open,
        *({3} ^ set(shown.rows)),
    ]


@pytest.mark.hypothesis  # more reports with `make properties`
@pytest.mark.parametrize(
    "batch", [0, *(pytest.param(each, marks=pytest.mark.deep) for each in range(1, BATCHES))]
)
def test_a_random_report_is_inert(batch: int) -> None:
    random = Random(batch)
    for _ in range(settings().max_examples):
        source = report(random)
        assert alive(page(source)) == [], source


@pytest.mark.parametrize(
    "source",
    [
        "[x](https://evil.example)",
        "_www.evil.example",
        "<img src=x>",
        "@octocat",
        "![x](//e.f)",
        "a@e.example",
        "<details>",
        "[^1]\n\n[^1]: x",
        "| a |\n|--|",
    ],
)
def test_the_reader_sees_what_is_alive(source: str) -> None:
    assert alive(page(source)) != []


# DerivedCoreProperties.txt of Unicode 16, Default_Ignorable_Code_Point
IGNORABLE = (
    *(0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810)),
    *(*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0x3164),
    *(*range(0xFE00, 0xFE10), 0xFEFF, 0xFFA0, *range(0xFFF0, 0xFFF9), *range(0x1BCA0, 0x1BCA4)),
    *(*range(0x1D173, 0x1D17B), *range(0xE0000, 0xE1000)),
)


def test_every_ignorable_character_is_shown() -> None:
    for number in IGNORABLE:
        written = f"a{chr(number)}b"
        code = escape.visible(written)[1:-1]
        assert code.isascii(), hex(number)
        assert code[2:].lstrip("0") == f"{number:x}"
        assert code in escape.terminal(written)
        assert code in escape.html(written)
        assert code.replace("\\", "\\\\") in escape.markdown(written)


@pytest.mark.parametrize(
    "ordinary",
    ["👩\u200d💻", "❤\ufe0f\u200d🔥", "1\ufe0f\u20e3", "☎\ufe0e", "\u06cc\u200c\u062e", "क्\u200dष"],
)
def test_joiners_of_ordinary_text_stay(ordinary: str) -> None:
    assert escape.visible(ordinary) == ordinary
    assert escape.json_text(f'"{ordinary}"') == f'"{ordinary}"'


@pytest.mark.parametrize(
    ("hidden", "shown"),
    [
        ("a\ufe01\ufe0f", "a\\ufe01\\ufe0f"),
        ("漢\u200d\u200d字", "漢\\u200d\\u200d字"),
        ("漢\ufe0f\ufe0f", "漢\ufe0f\\ufe0f"),
        ("漢\U000e0100", "漢\\U000e0100"),
        ("漢 \u200d字", "漢 \\u200d字"),
    ],
)
def test_what_hides_behind_ordinary_text_is_shown(hidden: str, shown: str) -> None:
    assert escape.visible(hidden) == shown


def test_a_page_of_a_random_report_runs_nothing() -> None:
    random = Random(99)
    for _ in range(50):
        answer = text(random)
        case = graded(
            text(random),
            answer=answer,
            question=".",
            evaluators=(a_rubric(a_criterion(text(random))),),
        )
        shown = Page(render(a_report(case, errored(text(random), text(random)))))
        assert {"link", "img", "iframe", "object", "base"} & shown.tags == set()
        links = [target for target in shown.targets if not target.startswith("#")]
        assert [link for link in links if not re.match(r"https?://", link, re.IGNORECASE)] == []
        assert [link for link in links if link not in shown.text] == []
        assert [name for name in shown.attributes if name.startswith("on")] == []
