"""What a template shows is escaped, whatever its author writes."""

from pathlib import Path

import pytest
from jinja2 import TemplateAssertionError, UndefinedError, nodes
from markupsafe import Markup

from rubric_ci.reports import html_templates

FOLDER = Path(html_templates.__file__).parent / "html/templates"
TEMPLATES = sorted(path.name for path in FOLDER.glob("*.html"))
HOSTILE = "<b title='x'>\x1b\u202e&\"{{ 7 * 7 }}"
ESCAPED = "&lt;b title=&#x27;x&#x27;&gt;\\x1b\\u202e&amp;&quot;{{ 7 * 7 }}"


def drawn(source: str, **values: object) -> str:
    return html_templates.template("parts.html").environment.from_string(source).render(**values)


@pytest.mark.parametrize(
    "text", [HOSTILE, HOSTILE + "x" * html_templates.SHORT], ids=["short", "long"]
)
def test_text_is_escaped_and_shows_what_is_invisible(text: str) -> None:
    expected = text.replace(HOSTILE, ESCAPED)
    assert drawn("<i>{{ text }}</i>", text=text) == f"<i>{expected}</i>"
    assert drawn("{{ text | prose }}", text=text) == expected
    assert drawn("{% macro m(x) %}{{ x }}{% endmacro %}{{ m(text) }}", text=text) == expected
    assert drawn("{% set x %}{{ text }}{% endset %}{{ x }}", text=text) == expected


def test_prose_keeps_code() -> None:
    assert drawn("{{ text | prose }}", text="`<b>`") == "<code>&lt;b&gt;</code>"


@pytest.mark.parametrize("name", ["safe", "e", "join", "tojson", "replace", "format", "xmlattr"])
def test_there_is_no_filter_that_escapes_otherwise(name: str) -> None:
    with pytest.raises(TemplateAssertionError, match="No filter named"):
        drawn(f"{{{{ text | {name} }}}}", text="x")


@pytest.mark.parametrize("value", [None, True, 1, 0.5, ("a",), b"a"], ids=repr)
def test_only_text_is_shown(value: object) -> None:
    with pytest.raises(TypeError, match="a template shows"):
        drawn("{{ value }}", value=value)


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(UndefinedError, match="'titel' is undefined"):
        drawn("{{ titel }}")
    with pytest.raises(UndefinedError, match="has no attribute 'nam'"):
        drawn("{{ text.nam }}", text="x")


def test_trusted_text_is_shown_as_it_is() -> None:
    assert drawn("{{ style }}", style=Markup("a > b")) == "a > b"


@pytest.mark.parametrize("name", TEMPLATES)
def test_no_template_goes_around_the_escaping(name: str) -> None:
    """`~` and `+` would join text with HTML; `autoescape` would switch the escaping off."""
    parsed = html_templates.template(name).environment.parse(
        (FOLDER / name).read_text(encoding="utf-8")
    )
    forbidden = (nodes.Concat, nodes.Add, nodes.Mod, nodes.ScopedEvalContextModifier)
    assert [*parsed.find_all(forbidden)] == []


def test_line_breaks_between_tags_are_not_in_the_page() -> None:
    row = '    <li\n      class="{{ x }}">one\n    two</li>\n'
    source = f'<ul>\n  {{% for x in "ab" %}}\n{row}  {{% endfor %}}\n</ul>\n'
    shown = drawn(html_templates.without_line_breaks(source))
    assert shown == '<ul><li class="a">one two</li><li class="b">one two</li></ul>'
