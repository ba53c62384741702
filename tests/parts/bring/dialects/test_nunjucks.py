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
    "half": 1.5,
    "whole": 2.0,
    "flag": True,
    "none": None,
    "user": {"name": "Ann", "tags": ["tea", "milk"]},
}

SAME = {
    "{{ word }}": "ann",
    "{{word}}!": "ann!",
    "{{ user.tags[1] }} {{ user['name'] }}": "milk Ann",
    "{{ user.tags }}": "tea,milk",
    "{{ user }}": "[object Object]",
    "{{ flag }} {{ half }} {{ whole }}": "true 1.5 2",
    "{{ none }}{{ missing }}{{ missing.x.y }}{{ user.tags[2] }}{{ word.x }}": "",
    "{{ user.tags.length }}{{ word.length }}": "23",
}


@pytest.mark.parametrize(("text", "made"), SAME.items())
def test_filled_in(text: str, made: str) -> None:
    assert filled_in(text, VARIABLES) == made


OTHERWISE = {
    "{{ word | upper }}": "`{{ word | upper }}` is not a variable; write out what it makes",
    "{% if word %}a{% endif %}": "`{% if word %}` is not a variable; write out what it makes",
    "a{# b #}c": "`{# b #}` is not a variable; write out what it makes",
    "{{- word -}}": "`{{- word -}}` is not a variable; write out what it makes",
    "{{ user.tags.0 }}": "`{{ user.tags.0 }}` is not a variable; write out what it makes",
    "{{ }}": "`{{ }}` is not a variable; write out what it makes",
    "{{ word": "`{{ word` is not a variable; write out what it makes",
    "{{ env.HOME }}": "variables of the environment are not imported",
}


@pytest.mark.parametrize(("text", "reason"), OTHERWISE.items())
def test_what_means_something_else_is_refused(text: str, reason: str) -> None:
    with pytest.raises(NotSame) as caught:
        filled_in(text, VARIABLES)
    assert str(caught.value) == reason


RESOLVED: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "two levels": (
        {"a": "Hi {{b}}", "b": "dear {{ c }}", "c": "Ann"},
        {"a": "Hi dear Ann", "b": "dear Ann", "c": "Ann"},
        {"a": "Hi dear Ann", "b": "dear Ann", "c": "Ann"},
    ),
    "a key is for prompts only": (
        {"a": "{{ b.c }}", "b": {"c": "x"}},
        {"a": "{{ b.c }}", "b": {"c": "x"}},
        {"a": "x", "b": {"c": "x"}},
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
