"""Templates of promptfoo: which ones are filled in here, and what is refused by name.

The texts are those of nunjucks; `tests/peers/compared` compares more of them with promptfoo.
"""

from typing import Any

import pytest

from rubric_ci.parts.bring.dialects.nunjucks import (
    NotSame,
    filled_in,
    filled_in_prompt,
    prompt_values,
    resolved,
)

VARIABLES = {
    "word": "ann",
    "n": 42,
    "half": 1.5,
    "whole": 2.0,
    "flag": True,
    "none": None,
    "empty": "",
    "user": {"name": "Ann", "tags": ["tea", "milk"]},
}

SAME = {
    "{{ word }}": "ann",
    "{{word|upper}}": "ANN",
    "{{ user.tags[1] }} {{ user['name'] }}": "milk Ann",
    "{{ user.tags | join(', ') }}": "tea, milk",
    "{{ user.tags }}": "tea,milk",
    "{{ user }}": "[object Object]",
    "{{ user | dump }}": '{"name":"Ann","tags":["tea","milk"]}',
    "{{ whole | dump }} {{ half | dump }} {{ none | dump }}": "2 1.5 null",
    "a{{ missing | dump }}{{ user.x.y | dump }}": "a",
    "{{ flag }} {{ half }} {{ whole }}": "true 1.5 2",
    "{{ none }}{{ missing }}{{ missing.x.y }}": "",
    "{{ missing | default('x') }}{{ empty | default('y') }}": "x",
    "{{ empty | default('y', true) }}": "y",
    "{% if word == 'ann' %}a{% elif flag %}b{% else %}c{% endif %}": "a",
    "{% if missing %}a{% else %}c{% endif %}": "c",
    "{% for t in user.tags %}{{ loop.index }}{{ t }}{% endfor %}": "1tea2milk",
    "{% for t in missing %}a{% endfor %}": "",
    "{{ n + 1 }} {{ word + '!' }}": "43 ann!",
    "{{ 'a' if flag else 'b' }}": "a",
    "{{ user.tags | length }}{{ word.length }}": "23",
    "{{ word | replace('n', 'm') | capitalize }}": "Amm",
    "{{ user.tags | first }} {{ user.tags | last }}": "tea milk",
    "a{# b #}c": "ac",
    "{% raw %}{{ word }}{% endraw %}": "{{ word }}",
    "{{- word -}}  !\n": "ann!\n",
}


@pytest.mark.parametrize(("text", "made"), SAME.items())
def test_filled_in(text: str, made: str) -> None:
    assert filled_in(text, VARIABLES) == made


OTHERWISE = {
    "{{ word | title }}": "the filter `title` is not known",
    "{{ range(3) }}": "`call` is not known",
    "{% set a = 1 %}": "`assign` is not known",
    "{{ env.HOME }}": "variables of the environment are not imported",
    "{{ n | upper }}": "a filter of texts, of another value",
    "{{ user.tags.0 }}": "`.0` is not a name there; write `[0]`",
    "{% if n == '42' %}a{% endif %}": "`==` of two types",
    "{% for t in word %}a{% endfor %}": "a loop over other values than lists",
    "{% for t in user.tags %}{% for u in user.tags %}{% endfor %}{% endfor %}": (
        "a loop in a loop is not known"
    ),
    "{{ n - word }}": "`-` of other values than numbers and texts",
    "{{ word | load }}": "a filter or an operator does not take the value of a variable",
    "{{ }}": "Expected an expression, got 'end of print statement'",
    "{{ ''.__class__ }}{{ word.format() }}": "`call` is not known",
}


@pytest.mark.parametrize(("text", "reason"), OTHERWISE.items())
def test_what_means_something_else_is_refused(text: str, reason: str) -> None:
    with pytest.raises(NotSame) as caught:
        filled_in(text, VARIABLES)
    assert str(caught.value) == reason


def test_an_empty_list_is_true_there() -> None:
    with pytest.raises(NotSame) as caught:
        filled_in("{% if a %}b{% endif %}", {"a": []})
    assert str(caught.value) == "an empty list or mapping is true in JavaScript"


RESOLVED: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "two levels": (
        {"a": "Hi {{b}}", "b": "dear {{ c }}", "c": "Ann"},
        {"a": "Hi dear Ann", "b": "dear Ann", "c": "Ann"},
        {"a": "Hi dear Ann", "b": "dear Ann", "c": "Ann"},
    ),
    "a filter is for prompts only": (
        {"a": "{{ b | upper }}", "b": "x"},
        {"a": "{{ b | upper }}", "b": "x"},
        {"a": "X", "b": "x"},
    ),
    "a missing one stays": ({"a": "{{d}}"}, {"a": "{{d}}"}, {"a": "{{d}}"}),
    "a line at the end": ({"a": "x\n\n"}, {"a": "x\n"}, {"a": "x\n"}),
    "data": (
        {"a": "{{b}}", "b": {"c": 1}},
        {"a": "[object Object]", "b": {"c": 1}},
        {"a": "[object Object]", "b": {"c": 1}},
    ),
}


@pytest.mark.parametrize(("written", "for_checks", "for_prompts"), RESOLVED.values(), ids=RESOLVED)
def test_variables_in_variables(
    written: dict[str, Any], for_checks: dict[str, Any], for_prompts: dict[str, Any]
) -> None:
    found = resolved(written)
    assert (found, prompt_values(found)) == (for_checks, for_prompts)


def test_variables_that_grow_without_end_are_refused() -> None:
    text = "{{a}}" * 2000
    with pytest.raises(NotSame):
        resolved({"a": "x" * 2_000_000, "b": text})


def test_a_prompt_with_an_open_brace_is_no_template() -> None:
    assert filled_in_prompt("Use {{ in text", {}) == "Use {{ in text"
    assert filled_in_prompt("Use {{ word }}", VARIABLES) == "Use ann"
