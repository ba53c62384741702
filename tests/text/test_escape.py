"""Escaping, format by format: tables of hostile text and exact results."""

import json
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.text import escape

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=60)
ZWSP = "&#8203;"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("a\tb\nc", "a\tb\nc", id="tab and newline stay"),
        pytest.param("a\r\nb\rc", "a\nb\nc", id="newlines are LF"),
        pytest.param("\x1b[31mred", "\\x1b[31mred", id="terminal escape"),
        pytest.param("a\x00b\x7f\x9b", "a\\x00b\\x7f\\x9b", id="control characters"),
        pytest.param("user\u202egnp.exe", "user\\u202egnp.exe", id="right-to-left override"),
        pytest.param("\u2066x\u2069", "\\u2066x\\u2069", id="isolates"),
        pytest.param("a\U000e0041b", "a\\U000e0041b", id="invisible tag characters"),
        pytest.param("\ud800", "\\ud800", id="lone surrogate"),
        pytest.param("שלום עולם", "שלום עולם", id="Hebrew stays"),
        pytest.param("👩\u200d💻 é 漢字", "👩\u200d💻 é 漢字", id="joined emoji stay"),
    ],
)
def test_visible(text: str, shown: str) -> None:
    assert escape.visible(text) == shown


@pytest.mark.parametrize("sign", [*map(chr, range(128))])
def test_a_text_in_ascii_is_shown_as_in_any_other_text(sign: str) -> None:
    assert escape.visible(f"é{sign}") == f"é{escape.visible(sign)}"


@pytest.mark.parametrize(
    ("text", "data", "property_"),
    [
        pytest.param("plain", "plain", "plain", id="plain"),
        pytest.param("50%", "50%25", "50%25", id="percent"),
        pytest.param("%0A", "%250A", "%250A", id="an escape is escaped first"),
        pytest.param("a\n::error::b", "a%0A::error::b", "a%0A%3A%3Aerror%3A%3Ab", id="command"),
        pytest.param("a\rb\r\nc", "a%0Ab%0Ac", "a%0Ab%0Ac", id="carriage returns"),
        pytest.param("x,line=1", "x,line=1", "x%2Cline=1", id="comma"),
        pytest.param("C:\\a", "C:\\a", "C%3A\\a", id="colon"),
    ],
)
def test_workflow_commands(text: str, data: str, property_: str) -> None:
    assert escape.command_data(text) == data
    assert escape.command_property(text) == property_


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("plain text, (really)!", "plain text, (really)!", id="plain"),
        pytest.param("**bold** _it_ ~~no~~", r"\*\*bold\*\* \_it\_ \~\~no\~\~", id="emphasis"),
        pytest.param("a | b", r"a \| b", id="table column"),
        pytest.param("\\| x", r"\\\| x", id="escaped table column"),
        pytest.param("one\n\n# two", "one # two", id="one line"),
        pytest.param("`code`", r"\`code\`", id="code"),
        pytest.param("[x](http://e)", rf"\[x\](http:{ZWSP}//e)", id="link"),
        pytest.param("![x](y)", r"!\[x\](y)", id="picture"),
        pytest.param("<img src=x>", "&lt;img src=x&gt;", id="tag"),
        pytest.param("&lt;b&gt;", "&amp;lt;b&amp;gt;", id="entity"),
        pytest.param("x --> <!--", "x --&gt; &lt;!--", id="comment"),
        pytest.param("@octocat", f"@{ZWSP}octocat", id="mention"),
        pytest.param("cc @org/team.", f"cc @{ZWSP}org/team.", id="team mention"),
        pytest.param("me@example.com", f"me@{ZWSP}example.com", id="mail address"),
        pytest.param("fixes #12", f"fixes #{ZWSP}12", id="issue"),
        pytest.param("o/r#12, GH-7", f"o/r#{ZWSP}12, GH-{ZWSP}7", id="issue elsewhere"),
        pytest.param("www.evil.com", f"www{ZWSP}.evil.com", id="bare link"),
        pytest.param("mailto:a", f"mailto:{ZWSP}a", id="mailto"),
        pytest.param(":tada: 1:2", f":{ZWSP}tada: 1:2", id="emoji short code"),
        pytest.param("$x$", "<span>$</span>x<span>$</span>", id="math"),
        pytest.param("# title", r"\# title", id="heading"),
        pytest.param("- item", r"\- item", id="list item"),
        pytest.param("12. item", r"12\. item", id="ordered list item"),
        pytest.param("---", r"\---", id="rule"),
        pytest.param("    code", "code", id="indented code"),
        pytest.param("> quote", "&gt; quote", id="quote"),
        pytest.param('"it\'s"', '"it\'s"', id="quotation marks stay"),
    ],
)
def test_markdown(text: str, shown: str) -> None:
    assert escape.markdown(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("run `a b` and *c*", r"run `a b` and \*c\*", id="code stays code"),
        pytest.param("`a` `b`", "`a` `b`", id="two spans"),
        pytest.param("``` x ```", r"\`\`\` x \`\`\`", id="fences do not"),
        pytest.param("open ` only", r"open \` only", id="a lone backtick does not"),
        pytest.param("a\\`b`", r"a\\`b`", id="after a backslash"),
        pytest.param("`<b>` <b>", "`<b>` &lt;b&gt;", id="tags are escaped outside"),
    ],
)
def test_prose(text: str, shown: str) -> None:
    assert escape.prose(text) == shown


def test_prose_in_html_has_no_backslashes() -> None:
    shown = f'**"a"** &lt;/summary&gt; @{ZWSP}b <code>c</code>'
    assert escape.prose_in_html('**"a"** </summary>\n@b `c`') == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("a\n  b ::c::", "a\n  b ::c::", id="in the middle"),
        pytest.param("a\n \u00a0::b::", "a\n \u00a0: :b::", id="behind blanks"),
        pytest.param("a\r::b::", "a\n: :b::", id="after a carriage return"),
        pytest.param("a\n##[b]", "a\n# #[b]", id="old form"),
    ],
)
def test_log_text(text: str, shown: str) -> None:
    assert escape.log_text(text) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("##[b]#[", '"#\\u0023[b]#["'),
        ("a\x7f\x9b\u202e", r'"a\u007f\u009b\u202e"'),
        ("\U000e0041", r'"\udb40\udc41"'),
        ("\U0001f469\u200d\U0001f4bb", '"\U0001f469\u200d\U0001f4bb"'),
    ],
    ids=["command", "control", "tag", "joined emoji"],
)
def test_json_text_keeps_its_values(value: str, shown: str) -> None:
    text = escape.json_text(json.dumps(value, ensure_ascii=False))
    assert (text, json.loads(text)) == (shown, value)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("a ::b::", "a ::b::", id="in the middle"),
        pytest.param("::error::x", ": :error::x", id="at the start"),
        pytest.param(" \u00a0\n::error::x", ": :error::x", id="after blanks"),
        pytest.param("a ##[error]x", "a # #[error]x", id="anywhere"),
        pytest.param("a\n::error::x", "a ::error::x", id="a line of its own"),
    ],
)
def test_log_line(text: str, shown: str) -> None:
    assert escape.log_line(text) == shown


@pytest.mark.parametrize(
    ("text", "plain", "in_table"),
    [
        pytest.param("a*b", "`a*b`", "`a*b`", id="plain"),
        pytest.param("a`b", "``a`b``", "``a`b``", id="backtick inside"),
        pytest.param("`a", "`` `a ``", "`` `a ``", id="backtick first"),
        pytest.param("a`", "`` a` ``", "`` a` ``", id="backtick last"),
        pytest.param("a|b", "`a|b`", r"`a\|b`", id="table column"),
        pytest.param("a\nb", "`a b`", "`a b`", id="one line"),
        pytest.param("", "` `", "` `", id="empty"),
    ],
)
def test_code_span(text: str, plain: str, in_table: str) -> None:
    assert escape.code_span(text) == plain
    assert escape.code_span(text, in_table=True) == in_table


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("a\nb\n", "```\na\nb\n```", id="plain"),
        pytest.param("```\n@x\n````", "`````\n```\n@x\n````\n`````", id="fences inside"),
    ],
)
def test_fence(text: str, shown: str) -> None:
    assert escape.fence(text) == shown


def test_link_target() -> None:
    assert escape.link_target("https://h/a b)(c?d=é#1") == "https://h/a%20b%29%28c?d=%C3%A9#1"


def test_path_target() -> None:
    assert escape.path_target("evals/a b#(ü).yaml") == "evals/a%20b%23%28%C3%BC%29.yaml"


def test_terminal_expands_tabs_and_keeps_newlines() -> None:
    assert escape.terminal("a\tb\n\x1b[2J") == "a   b\n\\x1b[2J"


def test_xml_content_keeps_quotation_marks() -> None:
    assert escape.xml_text('"it\'s" <b>') == '"it\'s" &lt;b&gt;'


@given(ANY_TEXT)
def test_html_round_trips_and_holds_no_tag(text: str) -> None:
    seen: list[str] = []
    tags: list[tuple[str, dict[str, str | None]]] = []

    class Reader(HTMLParser):
        def handle_data(self, data: str) -> None:
            seen.append(data)

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            tags.append((tag, dict(attrs)))

    reader = Reader()
    reader.feed(f'<p title="{escape.html(text)}">{escape.html(text)}</p>')
    reader.close()
    assert tags == [("p", {"title": escape.visible(text)})]
    assert "".join(seen) == escape.visible(text)


@given(ANY_TEXT)
def test_xml_is_always_well_formed(text: str) -> None:
    root = ET.fromstring(f'<a b="{escape.xml(text)}">{escape.xml_text(text)}</a>'.encode())
    assert root.get("b") == (root.text or "") == escape.visible(text)


@given(ANY_TEXT)
def test_workflow_data_is_one_line(text: str) -> None:
    assert not re.search("[\r\n\u2028\u2029]", escape.command_data(text))


@given(ANY_TEXT)
def test_markdown_is_one_line_without_open_cell(text: str) -> None:
    shown = escape.markdown(text)
    assert "\n" not in shown
    assert not re.search(r"(?<!\\)(?:\\\\)*\|", shown)


def test_a_commit_is_shown_by_ten_characters() -> None:
    assert escape.commit("0123456789abcdef") == "0123456789"
