"""Fields of an answer, compared with the reference answer."""

import json
from typing import Any

import pytest

from rubric_ci.errors import CannotMeasure
from rubric_ci.parts.graders.field_accuracy import FieldAccuracySpec, FieldSpec, field_accuracy
from rubric_ci.text.redact import redactor
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.messages import DataPart, Message
from rubric_ci.values.results import Assessment
from tests.cases import build_case, span, text_answer, text_message

REFERENCE = {
    "id": "A-1",
    "total": 0.3,
    "paid": True,
    "when": "2025-01-15",
    "lines": [{"sku": "x", "n": 2}, {"sku": "y", "n": 1}],
    "none": None,
}


def field(path: str, match: Any = "exact", **facts: Any) -> FieldSpec:
    return FieldSpec(path=path, match=match, span=span(9), **facts)


def case(reference: Any = REFERENCE) -> EvalCase:
    message = Message(role="assistant", parts=(DataPart(reference),))
    return build_case(expected_messages=(message,))


def compare(
    text: str, *fields: FieldSpec, of: EvalCase | None = None, aggregation: Any = None
) -> Assessment:
    spec = FieldAccuracySpec(
        name="fields", fields=fields, aggregation=aggregation or "weighted_average", span=span(8)
    )
    return field_accuracy(of or case(), text_answer(text), spec, redactor(()))


def mark(answer: Any, path: str, match: Any = "exact", **facts: Any) -> str:
    """Return how one field of the answer differs, or "" if it does not."""
    (criterion,) = compare(json.dumps(answer), field(path, match, **facts)).criteria
    assert criterion.mark == (not criterion.reasoning)
    return criterion.reasoning


LINES = [{"n": 2, "sku": "x"}, {"sku": "y", "n": 1}]
SHORTER = 'is [{"n": 2, "sku": "x"}], not [{"sku": "x", "n": 2}, {"sku": "y", "n": 1}]'
EXACT: dict[str, tuple[Any, str, str]] = {
    "same text": ({"id": "A-1"}, "id", ""),
    "other case": ({"id": "a-1"}, "id", 'is "a-1", not "A-1"'),
    "1 is not true": ({"paid": 1}, "paid", "is 1, not true"),
    "null": ({"none": None}, "none", ""),
    "0 is not null": ({"none": 0}, "none", "is 0, not null"),
    "missing": ({}, "id", 'missing; expected "A-1"'),
    "a list": ([], "id", 'missing; expected "A-1"'),
    "index, and 1.0 is 1": ({"lines": [{}, {"n": 1.0}]}, "lines[1].n", ""),
    "index between dots": ({"lines": [{}, {"n": 1}]}, "lines.1.n", ""),
    "beyond the list": ({"lines": [{}]}, "lines[1].n", "missing; expected 1"),
    "deep": ({"lines": LINES}, "lines", ""),
    "shorter list": ({"lines": LINES[:1]}, "lines", SHORTER),
}


@pytest.mark.parametrize(("answer", "path", "reason"), EXACT.values(), ids=EXACT)
def test_exact(answer: Any, path: str, reason: str) -> None:
    assert mark(answer, path) == reason


WIDE = {"tolerance": 999}
NO_NUMBERS = ("EUR 0.3", "0.3 to 5", "1_000", "0,3", "0.3/2", "inf")
TENTH = {"tolerance": 0.1}
RELATIVE = {"tolerance": 0.1, "relative": True}


@pytest.mark.parametrize(
    ("total", "facts", "reason"),
    [
        (0.3, {}, ""),
        (0.31, {}, "is 0.31, more than 0 from 0.3"),
        (0.4, TENTH, ""),
        (0.41, TENTH, "is 0.41, more than 0.1 from 0.3"),
        (" 0.35 ", TENTH, ""),
        (0.33, RELATIVE, ""),
        (0.34, RELATIVE, "is 0.34, more than 0.03 from 0.3"),
        ("0.3 EUR", {}, ""),
        ("0.3%", {}, ""),
        ("0.4 kg", {}, "is 0.4, more than 0 from 0.3"),
        *((text, WIDE, f'is "{text}", which is not a number') for text in NO_NUMBERS),
        (True, WIDE, "is true, which is not a number"),
    ],
)
def test_numbers(total: Any, facts: dict[str, Any], reason: str) -> None:
    assert mark({"total": total}, "total", "numeric_tolerance", **facts) == reason


SAME_DAY = (
    *("2025-01-15", "2025-01-15T08:00:00Z", "15.01.2025", "01/15/2025", "15-JAN-2025"),
    *("15th January, 2025", "Jan. 15, 2025", "2025/1/15", "01/15/2025 08:00"),
)
ISO_FIRST = ("YYYY-MM-DD", "DD.MM.YYYY")


@pytest.mark.parametrize(
    ("when", "formats", "reason"),
    [
        *((text, (), "") for text in SAME_DAY),
        ("2025-01-15", ("DD.MM.YYYY", "DD/MM/YYYY"), ""),
        ("15.01.2025", ISO_FIRST, ""),
        ("15-JAN-2025", ("YYYY-MM-DD", "DD-MMM-YYYY"), ""),
        ("01/15/2025", ("YYYY-MM-DD", "MM/DD/YYYY"), ""),
        ("2025-01-16", (), "is 2025-01-16, not 2025-01-15"),
        ("16/01/2025", (), "is 2025-01-16, not 2025-01-15"),
        ("02/03/2025", (), "is 2025-02-03 or 2025-03-02, not 2025-01-15"),
        ("15/13/2025", (), 'is "15/13/2025", which is not a date'),
        (
            "31.02.2025",
            ISO_FIRST,
            'is "31.02.2025", which is not a date in the format YYYY-MM-DD or DD.MM.YYYY',
        ),
        (20250115, (), "is 20250115, which is not a date"),
    ],
)
def test_dates(when: Any, formats: tuple[str, ...], reason: str) -> None:
    assert mark({"when": when}, "when", "date", formats=formats) == reason


def test_a_weighted_mean_of_the_fields() -> None:
    result = compare('{"id": "A-1", "paid": false}', field("id", weight=3.0), field("paid"))
    assert (result.score, result.gated_by) == (0.75, ())
    assert [(c.id, c.line, c.text, c.mark) for c in result.criteria] == [
        ("id", 9, '`id` is "A-1"', True),
        ("paid", 9, "`paid` is true", False),
    ]


def test_all_or_nothing() -> None:
    fields = (field("id"), field("paid"))
    assert compare('{"id": "A-1"}', *fields, aggregation="all_or_nothing").score == 0.0
    both = '{"id": "A-1", "paid": true}'
    assert compare(both, *fields, aggregation="all_or_nothing").score == 1.0


def test_a_required_field_is_a_gate() -> None:
    required = field("paid", required=True)
    result = compare('{"id": "A-1"}', field("id", weight=99.0), required)
    assert (result.score, result.gated_by) == (0.99, ("paid",))
    assert [c.gate for c in result.criteria] == ["", "required"]


@pytest.mark.parametrize(
    ("reference", "answer", "formats", "reason"),
    [
        pytest.param("03/04/2025", "03/04/2025", (), "", id="same-text"),
        pytest.param("05/05/2025", "2025-05-05", (), "", id="the-same-both-ways"),
        pytest.param("03/04/2025", "2025-04-03", ("DD/MM/YYYY",), "", id="format-decides"),
        pytest.param(
            "03/04/2025",
            "2025-04-03",
            ("MM/DD/YYYY",),
            "is 2025-04-03, not 2025-03-04",
            id="other-format",
        ),
    ],
)
def test_dates_that_can_be_swapped(
    reference: str, answer: str, formats: tuple[str, ...], reason: str
) -> None:
    of = case({"when": reference})
    text = json.dumps({"when": answer})
    (criterion,) = compare(text, field("when", "date", formats=formats), of=of).criteria
    assert criterion.reasoning == reason


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"id": "A-1"}', id="bare"),
        pytest.param('So:\n```json\n{"id": "A-1"}\n```\nDone.', id="fenced"),
        pytest.param('Here is [1] the {order}, not {}: {"id": "A-1"}. Anything else?', id="prose"),
        pytest.param('{"id": "A-1"}, again {"id": "A-1"}', id="twice-the-same"),
        pytest.param(
            '```python\nprint({})\n```\n```json\n{"id": "A-1"}\n```', id="after-other-code"
        ),
        pytest.param('{"a": 1} becomes\n```\n{"id": "A-1"}\n```', id="a-fence-before-prose"),
    ],
)
def test_json_is_found(text: str) -> None:
    assert compare(text, field("id")).score == 1.0


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("A-1", "the answer is not JSON", id="text"),
        pytest.param('["A-1"] and [1]', "the answer is not JSON", id="lists-in-prose"),
        pytest.param('{"id": "A-1"', "the answer is not JSON", id="cut-off"),
        pytest.param("{" * 99_999, "the answer is not JSON", id="braces"),
        pytest.param('{"a":' * 9_999, "the answer is not JSON", id="nested-too-deeply"),
        pytest.param(
            'Either {"id": "A-1"} or {"id": "A-2"}',
            "the answer has 2 different JSON values, so none is compared",
            id="two-answers",
        ),
    ],
)
def test_an_answer_without_one_json_value_is_wrong(text: str, reason: str) -> None:
    result = compare(text, field("id"), field("none", optional=True, may_lack_reference=True))
    assert (result.score, result.reasoning) == (0.0, reason)
    assert [c.reasoning for c in result.criteria] == [
        'missing; expected "A-1"',
        "missing; expected null",
    ]


OPTIONAL = {"optional": True, "may_lack_reference": True}
WRONG_ID = ("id", False, 1.0, 'is "A-2", not "A-1"')
OPTIONALS: dict[str, tuple[Any, list[FieldSpec], float, list[Any]]] = {
    "missing in the answer": (
        {"id": "A-2"},
        [field("id"), field("paid", **OPTIONAL)],
        0.0,
        [WRONG_ID, ("paid", True, 0.0, "missing, so it is not counted")],
    ),
    "missing in the reference": (
        {"id": "A-2", "note": 1},
        [field("id"), field("note", **OPTIONAL)],
        0.5,
        [WRONG_ID, ("note", True, 1.0, "not compared")],
    ),
    "wrong": (
        {"id": "A-1", "paid": False},
        [field("id"), field("paid", **OPTIONAL)],
        0.5,
        [("id", True, 1.0, ""), ("paid", False, 1.0, "is false, not true")],
    ),
    "nothing is counted": (
        {"other": 1},
        [field("id", **OPTIONAL)],
        0.0,
        [("id", False, 1.0, 'missing; expected "A-1"')],
    ),
}


@pytest.mark.parametrize(
    ("answer", "fields", "score", "criteria"), OPTIONALS.values(), ids=OPTIONALS
)
def test_optional(answer: Any, fields: list[FieldSpec], score: float, criteria: list[Any]) -> None:
    result = compare(json.dumps(answer), *fields)
    assert result.score == score
    found = [(c.id, c.mark, c.weight, c.reasoning) for c in result.criteria]
    assert found == criteria


@pytest.mark.parametrize(
    "messages",
    [
        (text_message('{"id": "A-1"}', "assistant"),),
        (text_message('{"id": "A-1"}', "assistant"), Message(role="assistant", tool_calls=({},))),
    ],
    ids=["text", "before-a-tool-call"],
)
def test_the_reference_may_be_text(messages: tuple[Message, ...]) -> None:
    assert (
        compare('{"id": "A-1"}', field("id"), of=build_case(expected_messages=messages)).score == 1
    )


def textual(text: str) -> EvalCase:
    return build_case(expected_messages=(text_message(text, "assistant"),))


NO_DATE = "`a` of the reference answer is not a date in the format DD.MM.YYYY"
SWAPPED = (
    '`a` is "03/04/2025", the reference answer has "2025-04-03", and one of them is '
    "2025-03-04 or 2025-04-03; set `formats`"
)


@pytest.mark.parametrize(
    ("of", "field", "message"),
    [
        (
            build_case(),
            field("id"),
            "the case has no reference answer (`expected_messages`) to compare with",
        ),
        (textual("A-1"), field("id"), "the reference answer of the case is not JSON"),
        (case(), field("nmae"), "the reference answer has no `nmae` to compare with"),
        (
            case(),
            field("note", **OPTIONAL),
            "the reference answer has none of the fields to compare with",
        ),
        (
            textual('{"a": 1} or {"a": 2}'),
            field("a"),
            "the reference answer of the case has several JSON values",
        ),
        (case({"a": "2025-04-03"}), field("a", "date"), SWAPPED),
        (
            case({"a": "x"}),
            field("a", "numeric_tolerance"),
            "`a` of the reference answer is not a number",
        ),
        (case({"a": "x"}), field("a", "date", formats=("DD.MM.YYYY",)), NO_DATE),
        (
            case(),
            field("id", weight=0.0),
            "every field has weight 0; set a weight above 0 for at least one",
        ),
    ],
)
def test_nothing_to_compare_with(of: EvalCase, field: FieldSpec, message: str) -> None:
    with pytest.raises(CannotMeasure) as caught:
        compare('{"a": "03/04/2025"}', field, of=of)
    assert str(caught.value) == message
