"""Hostile answers, as readers' programs see them: GitHub's own markdown parser, and a browser's."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import cmarkgfm
import pytest
from cmarkgfm import cmark

from rubric_ci.gate.report import json_format
from rubric_ci.reports import annotations, formats, markdown
from rubric_ci.reports.markdown import Links
from rubric_ci.values.report import Against, RemovedCase, RunReport
from rubric_ci.values.results import BaseResult
from tests.sample_reports import a_criterion, a_report, a_rubric, errored, graded, skipped

ROOT = Path(__file__).parents[2]
LINKS = Links(blob="https://ours.example/o/r/blob/abc", run="https://ours.example/run")

HOSTILE = {
    "closes the fold": "</details></summary></table><h1>owned</h1>",
    "script": "<script>alert(1)</script><img src=x onerror=alert(1)><svg/onload=alert(1)>",
    "link": "[click](https://evil.example) <https://evil.example> [ref]: https://evil.example",
    "bare link": "https://evil.example http://evil.example www.evil.example ftp://evil.example",
    "shouted link": "HTTPS://EVIL.EXAMPLE WWW.EVIL.EXAMPLE",
    "mail": "me@evil.example mailto:me@evil.example xmpp:me@evil.example",
    "picture": "![x](https://evil.example/pixel.png)",
    "javascript": "[x](javascript:alert(1))",
    "reference": "[x][y]\n\n[y]: https://evil.example",
    "footnote": "[^1]\n\n[^1]: https://evil.example",
    "mention": "@octocat @acme/team (@octocat) **@octocat**",
    "issue": "#1 GH-1 gh-1 acme/app#1 fixes #1",
    "emoji": ":white_check_mark: :+1:",
    "block": "# heading\n\n- list\n\n1. list\n\n> quote\n\n---\n\n    code\n\n| a | b |\n|--|--|",
    "row": "a | b | c |\n| d | e |",
    "escaped row": r"a \| b \\| c \\\| d",
    "code": "`a` ``b`` ``` c ~~~ d `|` `",
    "task": "- [x] done",
    "emphasis": "*a* **b** _c_ ~~d~~ ***e***",
    "entity": "&lt;script&gt; &#64;octocat &commat;octocat &#x40;octocat",
    "entity link": "&#104;ttps://evil.example",
    "comment": "--> <!-- rubric-ci --> <!--",
    "cdata": "<![CDATA[ ]]> <?x ?> <!DOCTYPE html>",
    "backslashes": "\\ \\\\ \\`x\\` \\@octocat \\<b\\>",
    "math": "$`x`$ $$x$$ $x$",
    "control": "\x00\x1b]0;owned\x07\x1b[2J\u202e\u2066\ufeff\ud800",
    "template": "{{ 7 * 7 }} {% include 'page.html' %} {# comment",
    "command": "\n::error file=a::owned\n##[error]owned\n::stop-commands::x",
}
MARKDOWN = """\
# a\n\n1. *a* **b** ~~c~~ `d`\n\n2. - e\n\n> f\n\n---\n\n```g\nh\n```\n
[i](https://ours.example) [j](k) ![l](m)\n\n| n |\n|---|\n| o |\n"""
HARMLESS = ("harmless", MARKDOWN, "3. a")  # together they have all tags and attributes of a page
ALLOWED_TAGS = {
    "a", "b", "blockquote", "br", "code", "del", "details", "h2", "h3", "li", "p", "pre", "span",
    "strong", "sub", "summary", "table", "tbody", "td", "th", "thead", "tr", "ul",
    "wbr",
}  # fmt: skip
LINKED_BY_GITHUB = re.compile(r"@\w|#\d|(?<![a-z])GH-\d|://|www\.|:\w+:|\bmailto:\w", re.IGNORECASE)


class Page(HTMLParser):
    """Tags, attributes, and the text that GitHub looks through for mentions and links."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.targets: set[str] = set()
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.live = ""
        self.text = ""
        self.rows: list[int] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        ours = [("class", "language-diff")], [("class", "language-text")]  # of fenced texts
        self.attributes |= {name for name, _ in attrs} if attrs not in ours else set()
        self.targets |= {value or "" for name, value in attrs if name in {"href", "src"}}
        if tag == "tr":
            self.rows.append(0)
        if tag == "br":
            self.live += "\n"  # GitHub's filters see the text on each side alone
        if tag in {"td", "th"}:
            self.rows[-1] += 1
        if tag not in {"br", "meta", "input", "img"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        self.text += data
        if not {"code", "a", "style"} & set(self.open):
            self.live += data


def everywhere(text: str) -> str:
    """Return the markdown of a report that holds a text wherever a report holds text."""
    return in_full_and_as_tables(hostile(text))


def in_full_and_as_tables(report: RunReport) -> str:
    """Return the markdown of a report with details of its cases, and with tables of them."""
    return "\n\n".join(markdown.render(report, most=most, links=LINKS) for most in (None, 0, 1))


def hostile(text: str) -> RunReport:
    """Return a report that holds a text wherever a report holds text."""
    criterion = a_criterion(text, text=text, reasoning=text, evidence=text, gate=text)
    rubric = a_rubric(criterion, name=text, warnings=(text,))
    case = graded(text, evaluators=(rubric,), reason=text, why=text, target=text, answer=text)
    case = replace(case, question=text, expected_outcome=text)
    met = a_rubric(replace(criterion, normalised=1.0, gated=False), name=text)
    before = BaseResult(outcome="graded", verdict="pass", answer=f"was {text}", evaluators=(met,))
    broken = replace(case, change="broken", change_reason=text, before=before)
    old = replace(case, change="failing-before", answer=f"{text} now", before=before)
    passing = graded(text, "pass", why=text, file=f"dir/{text}")
    report = a_report(
        broken, old, passing, errored(text, text, change="not-comparable", change_reason=text),
        skipped(text, text), notes=(text,),
        against=Against(ref=text, commit=text, committed_at=text, origin=text),
        removed=(RemovedCase(file=text, id=text),),
    )  # fmt: skip
    assert report.comparison
    return replace(report, comparison=replace(report.comparison, notes=(text,)))


def page(text: str) -> Page:
    """Return markdown as GitHub's own parser renders it, before its filter of HTML tags."""
    extensions = ["table", "autolink", "strikethrough", "tasklist"]
    options = cmark.Options.CMARK_OPT_UNSAFE | cmark.Options.CMARK_OPT_FOOTNOTES
    return Page(cmarkgfm.markdown_to_html_with_extensions(text, options, extensions))


@pytest.fixture(scope="module")
def pages() -> dict[str, Page]:
    """Every hostile text in every place."""
    return {name: page(everywhere(text)) for name, text in HOSTILE.items()}


@pytest.mark.parametrize("name", HOSTILE)
def test_markdown_is_inert(name: str, pages: dict[str, Page]) -> None:
    page = pages[name]
    assert page.tags - ALLOWED_TAGS == set()
    assert page.attributes - {"href", "align", "style", "class", "open"} == set()
    assert [t for t in page.targets if not t.startswith("https://ours.example/")] == []
    assert LINKED_BY_GITHUB.findall(page.live.replace("rubric-ci", "")) == []
    assert set(page.rows) == {3}
    assert page.open == []


@pytest.mark.parametrize("name", ["code", "emphasis", "backslashes", "escaped row", "entity"])
def test_markdown_shows_the_text(name: str, pages: dict[str, Page]) -> None:
    shown = " ".join(pages[name].text.replace("\u200b", "").split())
    assert shown.count(HOSTILE[name]) >= 3


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_no_line_of_markdown_is_a_command_of_a_bot(text: str) -> None:
    lines = everywhere(f"/merge\n{text}\n/merge").splitlines()
    assert [line for line in lines if line.lstrip().startswith(("/", "::", "@"))] == []


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_annotations_are_the_only_commands(text: str) -> None:
    case = graded(text, "fail", a_criterion(text, reasoning=text, evidence=text), file=text)
    lines = annotations.render(a_report(case, errored(text, text), skipped(text, text))).split("\n")
    assert [line.partition(" ")[0] for line in lines] == ["::error", "::error", "::notice", ""]
    for line in lines[:-1]:
        properties = line.partition(" ")[2].partition("::")[0].split(",")
        assert [entry.partition("=")[0] for entry in properties] == ["file", "line", "title"]


@pytest.mark.parametrize("path", sorted((ROOT / "tests/golden").glob("*.report.json")), ids=str)
def test_html_page_is_self_contained(path: Path) -> None:
    page = Page(formats.render("html", json_format.read(path.read_text(encoding="utf-8"))))
    assert {"link", "img", "iframe", "object", "base"} & page.tags == set()
    assert [target for target in page.targets if not target.startswith("#")] == []
    assert [name for name in page.attributes if name.startswith("on")] == []


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_html_is_the_page_of_a_harmless_text(text: str) -> None:
    page, *harmless = (Page(formats.render("html", hostile(each))) for each in (text, *HARMLESS))
    assert page.tags <= set().union(*(each.tags for each in harmless))
    assert page.attributes <= set().union(*(each.attributes for each in harmless))
    links = [target for target in page.targets if not target.startswith("#")]
    assert [
        link for link in links if not link.startswith("https://") or link not in page.text
    ] == []
    assert page.open == []
