"""Each key of an assertion: what holds, what does not, and what the mark says."""

import time
from typing import Any, NamedTuple

import pytest

from rubric_ci.evaluators.assertions.marking import assertion_marks, described, mark
from rubric_ci.values.json_value import JSON
from rubric_ci.values.rubric import Assertion, Check, Mark, Rubric
from tests.cases import span

LETTER = "Dear Ms Li,\nReturns: 30 days, with the receipt.\nKind regards"
ORDER = '{"id": "A/1", "total": {"amount": 42.0, "currency": "EUR"}, "lines": [{"sku": "x"}]}'
FENCED = f"```json\n{ORDER}\n```"


def an_assertion(key: str, value: JSON, **options: Any) -> Assertion:
    return Assertion(id="a", text="t", key=key, value=value, span=span(), **options)


NOT_JSON = "it is not JSON (expecting value: line 1, column 1)"


class Row(NamedTuple):
    answer: str
    key: str
    value: JSON
    holds: bool
    found: str
    evidence: str = ""


TABLE = {
    "contains": Row(LETTER, "contains", "30 days", True, "it is in line 2", "30 days"),
    "contains not": Row(LETTER, "contains", "60 days", False, "it does not occur"),
    "contains, other case": Row(LETTER, "contains", "dear", False, "it does not occur"),
    "any": Row(
        LETTER, "contains_any", ["one month", "30 days"], True, "it is in line 2", "30 days"
    ),
    "none of any": Row(
        LETTER, "contains_any", ["one month", "60 days"], False, "none of them occurs"
    ),
    "all": Row(
        LETTER, "contains_all", ["receipt", "Dear"], True, "all of them occur", "receipt ... Dear"
    ),
    "not all": Row(
        LETTER, "contains_all", ["receipt", "bill", "form"], False, "without `bill`, `form`"
    ),
    "equals": Row(" yes\n", "equals", "yes ", True, "it is the same", "yes"),
    "equals but for white space": Row(
        "a\r\nb", "equals", "a\nb", False, 'it differs in white space: `"a\\r\\nb"`, not `"a\\nb"`'
    ),
    "equals not": Row("yes!", "equals", "yes", False, "it is `yes!`"),
    "equals a number": Row("42.0", "equals", 42, True, "it is the same", "42.0"),
    "true is not 1": Row("true", "equals", 1, False, "it is `true`"),
    "equals a list": Row('[1,"a"]', "equals", [1, "a"], True, "it is the same", '[1,"a"]'),
    "another order of keys": Row(
        '{"b": 1, "a": 2}', "equals", {"a": 2, "b": 1}, True, "it is the same", '{"b": 1, "a": 2}'
    ),
    "another value": Row('{"a": 3}', "equals", {"a": 2}, False, 'it is `{"a": 3}`'),
    "no JSON to compare": Row("a: 2", "equals", {"a": 2}, False, NOT_JSON),
    "starts": Row("\n Dear all", "starts_with", "Dear ", True, "it starts with `Dear`", "Dear"),
    "starts not": Row(LETTER, "starts_with", "Hello", False, "it starts with `Dear`"),
    "starts, empty": Row("  ", "starts_with", "Hello", False, "the text is empty"),
    "ends": Row(f"{LETTER}\n", "ends_with", "regards", True, "it ends with `regards`", "regards"),
    "ends not": Row("Bye", "ends_with", "regards", False, "it ends with `Bye`"),
    "matches": Row(LETTER, "matches", r"\d+ days", True, "it is in line 2", "30 days"),
    "matches at a line": Row(LETTER, "matches", "(?m)^Kind", True, "it is in line 3", "Kind"),
    "matches not": Row(LETTER, "matches", "^Kind", False, "there is no match"),
    "a lone surrogate": Row("a\ud800b", "matches", "a.b", True, "it is in line 1", "a?b"),
    "JSON": Row("[1]", "is_json", True, True, "it is JSON", "[1]"),
    "a JSON text": Row('"a"', "is_json", True, True, "it is JSON", '"a"'),
    "fenced JSON": Row(FENCED, "is_json", True, True, "it is JSON", FENCED),
    "JSON and more": Row(f"Here: {ORDER}", "is_json", True, False, NOT_JSON),
    "two fences": Row(
        "```\n1\n```\n```\n2\n```",
        "is_json",
        True,
        False,
        "it is not JSON (extra data: line 2, column 1)",
    ),
    "an empty answer": Row("  ", "is_json", True, False, "it is empty"),
    "NaN": Row("NaN", "is_json", True, False, "it is not JSON (`NaN` is not a number in JSON)"),
    "too deep": Row(
        "[" * 200_000,
        "is_json",
        True,
        False,
        "it is not JSON that can be read: it is nested too deep",
    ),
    "JSON inside": Row(
        "It is [sic]\n{} or so", "contains_json", True, True, "it starts in line 2", "{}"
    ),
    "no JSON inside": Row("It is [sic] 42", "contains_json", True, False, "there is none"),
    "valid": Row(ORDER, "json_schema", {"required": ["id"]}, True, "it is valid", ORDER),
    "a fence, valid": Row(FENCED, "json_schema", {"type": "object"}, True, "it is valid", FENCED),
    "invalid": Row(
        ORDER,
        "json_schema",
        {"properties": {"total": {"required": ["tax"]}}},
        False,
        '`total`: "tax" is a required property',
    ),
    "invalid as a whole": Row(
        "[]", "json_schema", {"type": "object"}, False, '[] is not of type "object"'
    ),
    "nothing to validate": Row("no", "json_schema", {}, False, NOT_JSON),
    "as many words": Row("one two", "max_words", 2, True, "it has 2 words"),
    "too many": Row("one\ntwo  three", "max_words", 2, False, "it has 3 words"),
    "enough": Row("one two", "min_words", 2, True, "it has 2 words"),
    "too few": Row("one", "min_words", 2, False, "it has 1 word"),
}


@pytest.mark.parametrize(
    ("answer", "key", "value", "holds", "found", "evidence"), TABLE.values(), ids=TABLE
)
def test_marks(answer: str, key: str, value: JSON, holds: bool, found: str, evidence: str) -> None:
    reasoning = f"{described(key, value, negated=False, field='')}: {found}"
    expected = Mark(value=holds, reasoning=reasoning, evidence=evidence)
    assert mark(an_assertion(key, value), answer) == expected
    assert mark(an_assertion(key, value, negated=True), answer).value is not holds


def test_not_says_what_must_not_be_and_shows_it() -> None:
    assert mark(an_assertion("contains", "30 days", negated=True), LETTER) == Mark(
        value=False, reasoning="Does not contain `30 days`: it is in line 2", evidence="30 days"
    )


FOLDED: dict[str, tuple[str, str, JSON, bool, str]] = {
    "contains": ("DEAR Li", "contains", "dear", True, "DEAR"),
    "a folding that is longer": ("ßß Straße", "contains", "STRASSE", True, "strasse"),
    "half a letter": ("aßb", "contains", "as", True, "as"),
    "any": ("DEAR Li", "contains_any", ["x", "LI"], True, "Li"),
    "all": ("DEAR Li", "contains_all", ["li", "dear"], True, "Li ... DEAR"),
    "equals": ("Yes", "equals", "yES", True, "Yes"),
    "equals in JSON": ('{"a": ["Yes"]}', "equals", {"a": ["yes"]}, True, '{"a": ["Yes"]}'),
    "keys keep their case": ('{"A": 1}', "equals", {"a": 1}, False, ""),
    "starts": ("STRASSE 1", "starts_with", "straße", True, "STRASSE"),
    "starts, other": ("Street", "starts_with", "straße", False, ""),
    "ends": ("In der Straße", "ends_with", "STRASSE", True, " Straße"),
    "matches": ("Total: EUR 3", "matches", "eur \\d", True, "EUR 3"),
}
EXACT: list[tuple[str, str, JSON, bool, bool]] = [
    ("yes\n", "equals", "yes", True, False),
    ("yes", "equals", "yes ", True, False),
    ("yes", "equals", "yes", True, True),
    (" yes, sir", "starts_with", "yes", True, False),
    ("yes, sir", "starts_with", "yes", True, True),
    ("no.\n", "ends_with", ".", True, False),
    (FENCED, "is_json", True, True, False),
    (f" {ORDER}\n", "is_json", True, True, True),
    (FENCED, "equals", {"a": 1}, False, False),
    ('```\n{"a": 1}\n```', "equals", {"a": 1}, True, False),
    ('{"a": 1}', "equals", {"a": 1}, True, True),
    (FENCED, "json_schema", {"required": ["id"]}, True, False),
    (ORDER, "json_schema", {"required": ["id"]}, True, True),
]


@pytest.mark.parametrize(("answer", "key", "value", "holds", "exactly"), EXACT)
def test_exact_is_whole(answer: str, key: str, value: JSON, holds: bool, exactly: bool) -> None:
    loose, exact = (an_assertion(key, value, exact=each) for each in (False, True))
    assert (mark(loose, answer).value, mark(exact, answer).value) == (holds, exactly)


def test_what_is_in_a_fence_is_said() -> None:
    found = mark(an_assertion("is_json", True, exact=True), FENCED)
    assert found.reasoning == "Is JSON: it is in a code fence"


@pytest.mark.parametrize(("text", "holds"), [('"2024-02-29"', True), ('"2024-02-30"', False)])
def test_the_format_of_a_schema_is_checked(text: str, holds: bool) -> None:
    assert mark(an_assertion("json_schema", {"format": "date"}), text).value is holds


@pytest.mark.parametrize(
    ("answer", "key", "value", "holds", "evidence"), FOLDED.values(), ids=FOLDED
)
def test_case_is_ignored(answer: str, key: str, value: JSON, holds: bool, evidence: str) -> None:
    found = mark(an_assertion(key, value, ignore_case=True), answer)
    assert (found.value, found.evidence) == (holds, evidence)


FIELDS: dict[str, tuple[str, str, str, JSON, bool, str]] = {
    "dotted": (ORDER, "total.currency", "equals", "EUR", True, "equals `EUR`: it is the same"),
    "a number": (ORDER, "total.amount", "equals", 42, True, "equals `42`: it is the same"),
    "a pointer": (ORDER, "/lines/0/sku", "equals", "x", True, "equals `x`: it is the same"),
    "in a list": (ORDER, "lines[0].sku", "contains", "x", True, "contains `x`: it is in line 1"),
    "in a fence": (FENCED, "id", "matches", "^A", True, "matches `^A`: it is in line 1"),
    "a value as JSON": (ORDER, "lines", "is_json", True, True, "is JSON: it is JSON"),
    "a text by a schema": (
        *(ORDER, "total.currency", "json_schema", {"enum": ["EUR", "CHF"]}, True),
        "is valid by the JSON Schema: it is valid",
    ),
    "a text of digits by a schema": (
        *('{"days": "30"}', "days", "json_schema", {"type": "integer"}, False),
        'is valid by the JSON Schema: "30" is not of type "integer"',
    ),
    "missing": (ORDER, "total.tax", "equals", 1, False, "equals `1`: the answer has no such field"),
    "beyond a list": (
        ORDER,
        "/lines/1",
        "min_words",
        0,
        False,
        "has at least 0 words: the answer has no such field",
    ),
    "none": (
        "no",
        "id",
        "contains",
        "A",
        False,
        f"contains `A`: the answer has no fields; {NOT_JSON}",
    ),
}


@pytest.mark.parametrize(
    ("answer", "field", "key", "value", "holds", "reasoning"), FIELDS.values(), ids=FIELDS
)
def test_a_field(
    answer: str, field: str, key: str, value: JSON, holds: bool, reasoning: str
) -> None:
    found = mark(an_assertion(key, value, field=field), answer)
    assert (found.value, found.reasoning) == (holds, f"Field `{field}` {reasoning}")
    assert mark(an_assertion(key, value, field=field, negated=True), answer).value is not holds


def test_a_field_keeps_its_letters() -> None:
    order = '{"from": {"city": "K\u00f6ln"}}'
    assert mark(an_assertion("contains", "K\u00f6ln", field="from"), order).value is True


@pytest.mark.parametrize(
    ("brackets", "after", "found"),
    [
        (1_999, "{}", "it starts in line 1"),
        (2_000, "{}", "none starts at the first 2,000 brackets"),
        (2_000, "", "there is none"),
    ],
)
def test_how_far_json_is_sought(brackets: int, after: str, found: str) -> None:
    said = mark(an_assertion("contains_json", True), "[x " * brackets + after).reasoning
    assert said == f"Contains a JSON object or list: {found}"


def test_long_evidence_is_cut() -> None:
    found = mark(an_assertion("matches", "a+"), "a" * 1_000)
    assert found.evidence == "a" * 399 + "…"


def test_only_assertions_are_marked() -> None:
    rubric = Rubric((Check(id="c", text="Is kind", span=span()), an_assertion("contains", "x")))
    assert assertion_marks(rubric, "x").keys() == {"a"}


@pytest.mark.parametrize(
    ("key", "value", "answer"),
    [
        ("matches", "(a+)+b", "a" * 1_000_000),
        ("json_schema", {"pattern": "^(a+)+$"}, f'"{"a" * 1_000_000}!"'),
        ("contains_json", True, '{"a":[' * 100_000),
        ("contains_json", True, '["' * 100_000),
    ],
)
def test_no_answer_takes_long(key: str, value: JSON, answer: str) -> None:
    start = time.process_time()
    assert mark(an_assertion(key, value), answer).value is False
    assert time.process_time() - start < 10
