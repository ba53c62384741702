"""Templates: what they may have, which variables they need, and the text that they make."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.text.template import MOST_TEXT, Fault, NotRendered, Used, is_template, render, used
from rubric_ci.values.json_value import JSON

NOT_ALLOWED = "is not allowed; only variables, `if` and `for` are"
VARIABLES: dict[str, JSON] = {
    "name": "Ada",
    "user": {"items": ["é", 2], "city": "<Rome>"},
    "on": True,
    "days": 30,
    "tags": ["a", "b"],
}


@pytest.mark.parametrize(
    ("template", "text"),
    [
        pytest.param("Hello {{ name }}\n", "Hello Ada\n", id="a-text-keeps-its-end"),
        pytest.param("{{ on }} {{ days }} {{ tags }}", 'true 30 ["a", "b"]', id="values-are-json"),
        pytest.param("{{ user.city }} {{ user['city'] }}", "<Rome> <Rome>", id="no-escaping"),
        pytest.param("{{ user.items }} {{ tags.1 }}", '["é", 2] b', id="keys-and-positions"),
        pytest.param("{% if on %}yes{% else %}no{% endif %}", "yes", id="if"),
        pytest.param("{% for t in tags %}{{ loop.index }}{{ t }} {% endfor %}", "1a 2b ", id="for"),
        pytest.param(
            "{{ name|upper }} {{ name|lower }} {{ ' x '|trim }}", "ADA ada x", id="filters"
        ),
        pytest.param(
            "{{ tags|join(', ') }} {{ user|tojson }}",
            'a, b {"items": ["é", 2], "city": "<Rome>"}',
            id="lists",
        ),
        pytest.param("{% raw %}{{ name }}{% endraw %}", "{{ name }}", id="raw"),
        pytest.param("{{ name }} {# not a comment #}", "Ada {# not a comment #}", id="comment"),
        pytest.param("no {# template %}", "no {# template %}", id="plain"),
    ],
)
def test_render(template: str, text: str) -> None:
    assert render(template, VARIABLES) == text


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ("{{ nobody }}", "'nobody' is undefined"),
        ("{{ user.age }}", "'dict object' has no attribute 'age'"),
        ("{{ name.upper }}", "'str object' has no attribute 'upper'"),
        ("{{ name.__class__ }}", "'str object' has no attribute '__class__'"),
        ("{{ tags.9 }}", "list object has no element 9"),
        ("{{ name|join }}", "`join` needs a list"),
        ("{{ name < days }}", "'<' not supported between instances of 'str' and 'int'"),
        ("{% for x in days %}{% endfor %}", "'int' object is not iterable"),
        ("{{ name", "line 1: unexpected end of template, expected 'end of print statement'"),
        ("\n{{ name() }}", f"line 2: `call` {NOT_ALLOWED}"),
        (
            "{{ name|first }}",
            "line 1: there is no filter `first`; known: `trim`, `lower`, `upper`, `join`, `tojson`",
        ),
        (
            "{% for x in tags %}{% if x %}{% for y in tags %}{% endfor %}{% endif %}{% endfor %}",
            "line 1: a loop in a loop is not allowed",
        ),
        ("{% include 'x' %}", f"line 1: `include` {NOT_ALLOWED}"),
        ("{{ 'a' * 9 }}", f"line 1: `mul` {NOT_ALLOWED}"),
        ("{{ " + "(" * 5_000, "line 1: it is nested too deep"),
        ("{{ a }}" * MOST_TEXT, f"line 1: it has more than {MOST_TEXT:,} characters"),
    ],
)
def test_what_makes_no_text(template: str, reason: str) -> None:
    with pytest.raises(NotRendered) as raised:
        render(template, VARIABLES)
    assert str(raised.value) == reason


@pytest.mark.parametrize(
    "template",
    ["{{ big }}{{ big }}", "{{ many|join(big) }}", "{% for x in many %}{{ big }}{% endfor %}"],
)
def test_the_text_is_bounded(template: str) -> None:
    with pytest.raises(NotRendered, match="the text has more than 1,000,000 characters"):
        render(template, {"big": "x" * 600_000, "many": [1, 2, 3]})


@pytest.mark.parametrize(
    ("template", "found"),
    [
        ("{{ a }} and {{ b }}", Used(frozenset("ab"))),
        ("{{ a.b }}", Used(frozenset("a"), plain=False)),
        ("{% for x in a %}{{ x }}{% endfor %}", Used(frozenset("a"), plain=False)),
        ("{{ a }} {{ f() }}", Used(frozenset(), Fault(1, f"`call` {NOT_ALLOWED}"), plain=False)),
    ],
)
def test_used(template: str, found: Used) -> None:
    assert used(template) == found


@given(st.text())
def test_a_text_without_marks_is_kept(text: str) -> None:
    if not is_template(text):
        assert render(text, {}) == text


@given(st.text(alphabet="ab{}% #|'\n"))
def test_any_text_renders_or_says_why(text: str) -> None:
    try:
        made = render(text, {"a": "1", "b": ["2"]})
    except NotRendered as error:
        made = str(error)
    assert isinstance(made, str)
