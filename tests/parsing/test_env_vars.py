"""`${{ NAME }}` in configured values."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.errors import ForbiddenVariable, MissingVariable
from rubric_ci.parsing.env_vars import PROVIDER_VARIABLES, Variables, names, substitute

SET = Variables(environment={"KEY": "abc", "HOST": "h"}, listed=("KEY", "HO*"))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("${{ KEY }}", "abc"),
        ("https://${{HOST}}/v1?k=${{ KEY }}", "https://h/v1?k=abc"),
        ({"a": ["${{ KEY }}", 1, None, True]}, {"a": ["abc", 1, None, True]}),
        (("${{ HOST }}",), ("h",)),
        ("$KEY {{ KEY }} ${{ not a name }}", "$KEY {{ KEY }} ${{ not a name }}"),
    ],
    ids=["alone", "inside", "nested", "tuple", "not a variable"],
)
def test_substitute(value: Any, expected: Any) -> None:
    assert substitute(value, SET) == expected


@pytest.mark.parametrize("environment", [{}, {"KEY": ""}], ids=["unset", "empty"])
def test_a_missing_variable_is_named(environment: dict[str, str]) -> None:
    variables = Variables(environment=environment, listed=("KEY",))
    with pytest.raises(MissingVariable) as caught:
        substitute({"api_key": "${{ KEY }}"}, variables)
    assert caught.value.message == "the environment variable KEY is not set"


@pytest.mark.parametrize(
    "name", ["KEY", "OPENAI", "AWS_PROFILE", "AZURE_CREDENTIALS", "GITHUB_TOKEN", "Runner_TEMP"]
)
def test_what_is_not_allowed(name: str) -> None:
    variables = Variables(environment={name: "secret"}, listed=("GITHUB_*", "Runner_*"))
    with pytest.raises(ForbiddenVariable):
        substitute(f"${{{{ {name} }}}}", variables)


@pytest.mark.parametrize(
    "name",
    [
        *("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"),
        *("AZURE_API_KEY", "AZURE_OPENAI_ENDPOINT", "AWS_SECRET_ACCESS_KEY"),
    ],
)
def test_variables_of_providers_need_no_list(name: str) -> None:
    assert substitute(f"${{{{ {name} }}}}", Variables(environment={name: "x"})) == "x"
    assert not any(glob.startswith("*") for glob in PROVIDER_VARIABLES)


def test_names() -> None:
    assert list(names({"a": ["${{ X }}-${{ Y }}"], "b": {"c": "${{ X }}"}})) == ["X", "Y", "X"]


json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(json)
def test_values_without_variables_stay_as_they_are(value: Any) -> None:
    if not list(names(value)):
        assert substitute(value, Variables(environment={})) == value
