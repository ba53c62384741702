"""The table of assertions: its names, its words, and values that cannot be used."""

from pathlib import Path
from typing import Any

import pytest

from rubric_ci.evaluators.assertions.json_data import schema_problem
from rubric_ci.evaluators.assertions.keys import KEYS, keys_of
from rubric_ci.evaluators.assertions.marking import TABLE, described
from rubric_ci.evaluators.assertions.text import pattern_problem


def test_the_names_are_those_of_the_table() -> None:
    assert list(TABLE) == [*KEYS]


def test_the_keys_of_a_criterion() -> None:
    assert keys_of({"matches": "a", "not": True, "contains": "b"}) == ["contains", "matches"]


@pytest.mark.parametrize(
    ("key", "value", "negated", "field", "expected"),
    [
        ("contains", "a\n  b", False, "", "Contains `a b`"),
        ("contains", "x" * 100, False, "", f"Contains `{'x' * 79}…`"),
        ("contains_any", ["a", "b"], False, "", "Contains one of `a`, `b`"),
        ("contains_any", ["a", "b"], True, "", "Contains none of `a`, `b`"),
        ("contains_all", ["a", "b"], False, "", "Contains all of `a`, `b`"),
        ("starts_with", "a ", False, "", "Starts with `a`"),
        ("ends_with", "a", False, "", "Ends with `a`"),
        ("matches", r"\d+", False, "", r"Matches `\d+`"),
        ("contains_json", True, False, "", "Contains a JSON object or list"),
        ("json_schema", {}, False, "", "Is valid by the JSON Schema"),
        ("min_words", 2, False, "", "Has at least 2 words"),
        ("equals", {"a": [1]}, False, "", 'Equals `{"a": [1]}`'),
        ("max_words", 1200, False, "", "Has at most 1,200 words"),
        ("max_words", 1200, True, "", "Has more than 1,200 words"),
        ("is_json", True, True, "", "Is not JSON"),
        ("is_json", True, False, "a.b", "Field `a.b` is JSON"),
    ],
)
def test_an_assertion_told(key: str, value: Any, negated: bool, field: str, expected: str) -> None:
    assert described(key, value, negated=negated, field=field) == expected


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        (r"\d{3}|(?P<a>x)", ""),
        ("(?=x)", "invalid perl operator: (?="),
        (r"(a)\1", r"invalid escape sequence: \1"),
        ("(", "missing ): ("),
        ("\ud800", "it is not Unicode text"),
        (3, ""),
    ],
)
def test_patterns_that_re2_does_not_read(pattern: object, reason: str) -> None:
    assert pattern_problem(pattern) == reason


def test_which_keys_compare_texts() -> None:
    folds = [key for key, row in TABLE.items() if row.folds]
    assert folds == [
        *KEYS[:7],
        *("called", "never_called", "skill_used", "called_with", "calls_in_order", "calls_exactly"),
        "no_other_calls",
    ]


def test_what_a_longer_list_or_a_larger_number_does() -> None:
    assert {key: row.growth for key, row in TABLE.items() if row.growth} == {
        "contains_any": "weaker",
        "contains_all": "stronger",
        "max_words": "weaker",
        "min_words": "stronger",
        "never_called": "stronger",
        "calls_in_order": "stronger",
        "no_other_calls": "weaker",
        "max_calls": "weaker",
    }


def test_a_wrong_pattern_writes_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    pattern_problem("(?<b")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("key", ["max_words", "min_words"])
@pytest.mark.parametrize(("limit", "reason"), [(3, ""), (3.0, "it must be an integer, not 3.0")])
def test_numbers_of_words(key: str, limit: float, reason: str) -> None:
    assert TABLE[key].problem(limit) == reason


def test_an_inline_schema_is_checked_and_a_path_is_not() -> None:
    assert TABLE["matches"].problem("(") == "missing ): ("
    assert "3 is not valid" in TABLE["json_schema"].problem({"type": 3})
    assert TABLE["json_schema"].problem("schemas/a.json") == ""


def test_a_schema_loads_no_file(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{}")
    found = schema_problem({"$ref": (tmp_path / "a.json").as_uri()})
    assert found == "a `$ref` leads to nothing in it, and nothing is loaded from elsewhere"


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "object", "$defs": {"a": {}}, "$ref": "#/$defs/a"}, ""),
        ({"type": 3}, "3 is not valid"),
        ({"$ref": "https://example.com/a.json"}, "nothing is loaded"),
        ({"$ref": "#/$defs/gone"}, "leads to nothing"),
        ({"$ref": "other.json"}, "leads to nothing"),
        ({"pattern": "(?=a)"}, "(?=a)"),
    ],
)
def test_schemas_that_cannot_be_used(schema: Any, words: str) -> None:
    found = schema_problem(schema)
    assert words in found
    assert bool(found) is bool(words)
