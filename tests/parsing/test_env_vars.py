"""`${{ NAME }}` in configured values."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.errors import MissingVariable
from rubric_ci.parsing.env_vars import names, substitute

SET = {"KEY": "abc", "HOST": "h"}


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
    with pytest.raises(MissingVariable) as caught:
        substitute({"api_key": "${{ KEY }}"}, environment)
    assert caught.value.message == "the environment variable KEY is not set"


def test_names() -> None:
    assert list(names({"a": ["${{ X }}-${{ Y }}"], "b": {"c": "${{ X }}"}})) == ["X", "Y", "X"]


json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(json)
def test_values_without_variables_stay_as_they_are(value: Any) -> None:
    if not list(names(value)):
        assert substitute(value, {}) == value
