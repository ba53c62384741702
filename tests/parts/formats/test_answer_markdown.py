"""The Markdown of an answer as HTML: what is rendered, what stays text, what is marked."""

from collections import Counter
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.models.judge.reply_checks import missing_quotes
from rubric_ci.parts.formats import page
from rubric_ci.parts.formats.answer_markdown import LONGEST, quoted, rendered
from rubric_ci.text import answer_text
from rubric_ci.text.answer_text import Exchange
from rubric_ci.values.diagnostics import Span as Place
from rubric_ci.values.rubric import Check, Judgement, Mark
from tests.sample_reports import a_criterion, a_report, graded

REL = 'rel="noopener noreferrer nofollow"'
RENDERED = {
    "**a** *b* ~~c~~": "<p><strong>a</strong> <em>b</em> <s>c</s></p> ",
    "`a < b`": "<p><code>a &lt; b</code></p> ",
    "# A\nb": "<h5>A</h5> <p>b</p> ",
    "1. a\n2. b\n   - c": "<ol><li>a </li> <li>b <ul><li>c </li> </ul> </li> </ol> ",
    "3. a": '<ol start="3"><li>a </li> </ol> ',
    "a *b*\nc  \nd": "<p>a <em>b</em>\nc\nd</p> ",
    "|a|\n|:-:|\n|1|": (
        "<table><thead><tr><th>a</th> </tr> </thead> <tbody><tr><td>1</td> </tr> </tbody> </table> "
    ),
    "```py\nx < y\n```": "<small>py</small><pre>x &lt; y\n</pre> ",
    "> a\n\n---": "<blockquote><p>a</p> </blockquote> <hr> ",
    "[a](https://e.f/?x&y)": (
        f'<p><a href="https://e.f/?x&amp;y" {REL}>a</a><small> (https://e.f/?x&amp;y)</small></p> '
    ),
    "See <https://e.f>": f'<p>See <a href="https://e.f" {REL}>https://e.f</a></p> ',
    "[https://bank.f](https://e.f)": (
        f'<p><a href="https://e.f" {REL}>https://bank.f</a><small> (https://e.f)</small></p> '
    ),
    "[a](https://e.f 'T')": (
        f'<p><a href="https://e.f" {REL}>a</a><small> (https://e.f)</small><small> T</small></p> '
    ),
    "[a](https://\u0430.f)": (
        f'<p><a href="https://xn--80a.f" {REL}>a</a><small> (https://xn--80a.f)</small> </p> '
    ),
    "[a](mailto:a@e.f)": "<p><span>a</span><small> (mailto:a@e.f)</small></p> ",
    "[a](//e.f)": "<p><span>a</span><small> (//e.f)</small></p> ",
    "[a](file.html)": "<p><span>a</span><small> (file.html)</small></p> ",
    "![a](https://e.f/p.png)": "<p>image: a<small> (https://e.f/p.png)</small></p> ",
    "*a* [b](javascript:x)": "<p><em>a</em> [b](javascript:x)</p> ",
    "*a* <b onclick=x>": "<p><em>a</em> &lt;b onclick=x&gt;</p> ",
    "*a* &lt; &#x202e;": "<p><em>a</em> &amp;lt; &amp;#x202e;</p> ",
    "*a*\n\n[b]: https://e.f": "<p><em>a</em></p> <p>[b]: https://e.f</p> ",
    "*a*\u202e": "<p><em>a</em>\\u202e</p> ",
}


@pytest.mark.parametrize(("answer", "expected"), RENDERED.items())
def test_what_is_rendered(answer: str, expected: str) -> None:
    assert rendered(answer, ()) == expected


AS_IT_IS = {
    "nothing": "",
    "prose": "It is 3 < 4, and a_b.\n\nSo - well - that is it.",
    "object": '{"a": "*b*"}',
    "list": '["*a*"]',
    "page": "<p>*a*</p>",
    "cell without a column": "|a|\n|-|\n|b|hidden|",
    "deep quotes": f"{'> ' * 30}a",
    "long": "*a* " * (LONGEST // 4 + 1),
}


@pytest.mark.parametrize("answer", AS_IT_IS.values(), ids=AS_IT_IS)
def test_what_stays_text(answer: str) -> None:
    assert rendered(answer, ()) is None


QUOTED = {
    "as the answer reads": ("a **b** c", "a b", ["a ", "b"]),
    "as it is written": ("a **b** c", "**b** c", ["b", " c"]),
    "cut within": ("a **b** c", "a **b", ["a ", "b"]),
    "over a line": ("a *b*\nc d", "b c", ["b", "c"]),
    "a number of a list": ("1. ab\n2. cd", "2. cd", ["cd"]),
    "an item": ("- ab\n- cd", "- cd", ["cd"]),
    "a row": ("| x | y |\n|---|---|\n| 1 | 2 |", "| 1 | 2 |", ["1", "2"]),
    "not there": ("a **b**", "x", []),
    "empty": ("a **b**", "", []),
    "too long to parse": ("a **b**", "**b**" + "[" * 100 * LONGEST, []),
}


@pytest.mark.parametrize(("answer", "quote", "marked"), QUOTED.values(), ids=QUOTED)
def test_quotes_are_marked(answer: str, quote: str, marked: list[str]) -> None:
    shown = rendered(answer, [quote])
    assert shown is not None
    assert words(shown, "mark") == marked


class Text(HTMLParser):
    """The text of a page within some tags, or all of it."""

    def __init__(self, *within: str) -> None:
        super().__init__()
        self.within, self.open, self.found = within, 0, list[str]()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open += tag in self.within

    def handle_endtag(self, tag: str) -> None:
        self.open -= tag in self.within

    def handle_data(self, data: str) -> None:
        if self.open or not self.within:
            self.found.append(data)


def words(shown: str, *within: str) -> list[str]:
    text = Text(*within)
    text.feed(shown)
    return text.found


SIGNS = r"""
* ** _ ` ``` ~~ | - # > [ ]( ) ![ <a> <http://e.f> 1. & \ |-|- a b
"""
PIECES = (*SIGNS.split(), " ", "\n", "\n\n", "\t")


@given(st.lists(st.sampled_from(PIECES), max_size=20).map("".join))
def test_no_letter_is_hidden(answer: str) -> None:
    if (shown := rendered(answer, ())) is not None:
        seen = Counter("".join(words(shown)))
        lost = Counter(filter(str.isalpha, answer)) - seen
        assert not lost, (answer, shown)


def test_an_answer_can_be_seen_as_text() -> None:
    case = graded("a", "fail", a_criterion("c", evidence="b"), answer="a *b*", question="Q")
    assert (
        '<h4>Answer <label class="as-text"><input type="checkbox"> as text</label></h4>'
        '<div class="markdown"><p>a <em><mark>b</mark></em></p> </div>'
        "<pre>a *<mark>b</mark>*</pre>"
    ) in page.render(a_report(case))


def test_answers_of_a_conversation_are_rendered() -> None:
    said = answer_text.transcript([Exchange("*u*", "*a*")])
    text = page.render(a_report(graded("a", answer=said, question="*u*")))
    assert '<pre>*u*</pre></div><div class="answered"><h4>Assistant <label' in text
    assert '<div class="markdown"><p><em>a</em></p> </div><pre>*a*</pre></div>' in text


def test_the_first_answers_of_a_page_are_rendered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "RENDERED", 12)
    cases = (graded(name, answer="a **b**", question="Q") for name in "ab")
    assert page.render(a_report(*cases)).count('<div class="markdown">') == 1


ANSWER = "You can\n  return it “until” 14 March; the ﬁne print: İstanbul. You can call."

FOUND = {
    "as it stands": (["return it"], ["return it"]),
    "none": ([], []),
    "empty": ([""], []),
    "white space and case": (["you CAN return"], ["You can\n  return"]),
    "quotation marks": (['it "until" 14'], ["it “until” 14"]),
    "a ligature": (["the fine print"], ["the ﬁne print"]),
    "text left out": (["You can ... 14 March"], ["You can", "14 March"]),
    "an ellipsis": (["return … call"], ["return", "call"]),
    "in the wrong order": (["call ... return"], []),
    "a piece that is missing": (["return ... never"], []),
    "not in the answer": (["never said"], []),
    "overlapping": (["return it", "it “until”"], ["return it “until”"]),
    "one in the other": (["return it “until” 14", "it"], ["return it “until” 14"]),
    "one twice": (["call", "call"], ["call"]),
}


@pytest.mark.parametrize(("quotes", "found"), FOUND.values(), ids=FOUND)
def test_places(quotes: list[str], found: list[str]) -> None:
    assert [ANSWER[start:end] for start, end in quoted(ANSWER, quotes)] == found


@given(st.text(), st.lists(st.text()))
def test_places_ascend_and_do_not_overlap(answer: str, quotes: list[str]) -> None:
    ends = [place for span in quoted(answer, quotes) for place in span]
    assert ends == sorted(ends)
    assert all(0 <= end <= len(answer) for end in ends)


@given(st.text("ab \u2019'İﬁ\u200d", max_size=20), st.integers(0, 19), st.integers(1, 9))
def test_a_quote_that_the_check_accepts_has_a_place(answer: str, start: int, size: int) -> None:
    quote = answer[start : start + size].upper().strip(" \"'\u2019")
    criterion = Check(id="c", text="t", span=Place(line=1, column=1, end_line=1, end_column=1))
    judgement = Judgement({"c": Mark(value=True, evidence=quote)})
    accepted = not missing_quotes(judgement, [criterion], answer)
    if accepted and quote.strip("\u200d "):
        assert quoted(answer, [quote])
