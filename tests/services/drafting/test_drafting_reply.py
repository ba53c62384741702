"""Replies to a drafting call: valid drafts, and the problems of invalid ones."""

import json
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from jsonschema import Draft202012Validator

from rubric_ci.models.judge.reply import InvalidReply
from rubric_ci.services.drafting.drafting_reply import (
    Draft,
    Kind,
    draft_schema,
    read_draft,
    read_rubrics,
)
from rubric_ci.values.rubric import ByJudge, Check, Levelled, Scored


def check(name: str, **fields: Any) -> dict[str, Any]:
    shared = {"id": name, "expected_outcome": f"Names {name}", "applies_if": None}
    return {**shared, "weight": 1, "required": False} | fields


def scored(name: str, *ranges: list[int], **fields: Any) -> dict[str, Any]:
    items = [{"score_range": r, "expected_outcome": "so"} for r in ranges or ([0, 4], [5, 10])]
    shared = {"id": name, "expected_outcome": f"Explains {name}", "applies_if": None}
    return {**shared, "weight": 2.0, "required_min_score": None, "score_ranges": items} | fields


def levelled(name: str, *levels: int, **fields: Any) -> dict[str, Any]:
    items = [{"level": n, "name": f"N{n}", "criteria": "so"} for n in levels or (1, 2, 3)]
    shared = {"id": name, "expected_outcome": f"Explains {name}", "applies_if": None}
    return {**shared, "weight": 0.5, "required_min_level": None, "levels": items} | fields


def fault(name: str, **fields: Any) -> dict[str, Any]:
    shared = {"id": name, "expected_outcome": f"Promises {name}", "applies_if": None}
    return {**shared, "penalty": 1, "required": False} | fields


THREE = [check("a"), check("b"), check("c")]


def read(items: Any, kind: Kind = "checklist") -> Draft | InvalidReply:
    return read_draft(json.dumps({"rubrics": items}), kind)


def test_a_checklist() -> None:
    draft = read([check("a", weight=2, required=True), check("b"), check("c")])
    assert isinstance(draft, Draft)
    written = {"id": "a", "expected_outcome": "Names a", "weight": 2.0, "required": True}
    assert json.dumps(draft.rubrics[0]) == json.dumps(written)
    first = draft.rubric.criteria[0]
    assert isinstance(first, Check)
    assert (first.id, first.text, first.weight, first.required) == ("a", "Names a", 2.0, True)


def test_what_is_null_is_left_out() -> None:
    draft = read([scored("a"), scored("b", required_min_score=3), scored("c")], "score-range")
    assert isinstance(draft, Draft)
    fields = ["id", "expected_outcome", "weight", "score_ranges"]
    assert list(draft.rubrics[0]) == fields
    assert list(draft.rubrics[1]) == [*fields[:3], "required_min_score", "score_ranges"]


def test_auto_takes_every_kind() -> None:
    draft = read([check("a"), scored("b"), levelled("c", required_min_level=2)], "auto")
    assert isinstance(draft, Draft)
    assert [type(criterion) for criterion in draft.rubric] == [Check, Scored, Levelled]


@pytest.mark.parametrize("kind", get_args(Kind))
def test_a_fault_in_a_draft_of_any_kind(kind: Kind) -> None:
    made = {"score-range": scored("a"), "levels": levelled("a")}.get(kind, check("a"))
    last_of = fault("c", penalty=2, required=True)
    draft = read([made, made | {"id": "b"}, last_of], kind)
    assert isinstance(draft, Draft)
    names = ["id", "expected_outcome", "penalty", "required"]
    assert list(draft.rubrics[-1]) == names
    last = draft.rubric.criteria[-1]
    assert isinstance(last, Check)
    assert (last.fault, last.weight, last.required) == (True, 2.0, True)


@pytest.mark.parametrize(
    ("item", "named"),
    [(fault("d"), "applies_if"), (check("d", applies_if="It rains"), "applies_if")],
)
def test_plain_criteria(item: Any, named: str) -> None:
    plain = [{k: v for k, v in each.items() if k != "applies_if"} for each in THREE]
    wrong = read_draft(json.dumps({"rubrics": [*plain, item]}), "checklist", plain=True)
    assert wrong == InvalidReply((f'criterion 4 has a property "{named}" that is not asked for',))
    kept = read_draft(json.dumps({"rubrics": plain}), "checklist", plain=True)
    assert isinstance(kept, Draft)
    Draft202012Validator(draft_schema("checklist", plain=True)).validate({"rubrics": plain})


def test_a_condition() -> None:
    needs = "The customer asks about a return by post"
    draft = read([check("a", applies_if=needs), scored("b", applies_if=needs), fault("c")], "auto")
    assert isinstance(draft, Draft)
    assert list(draft.rubrics[0])[1:3] == ["expected_outcome", "applies_if"]
    conditions = [each.applies_if for each in draft.rubric]
    assert conditions == [ByJudge(text=needs), ByJudge(text=needs), None]


ONE_LINE = '"{}" of criterion 4 must be one line of text'
WEIGHT, REQUIRED = (f'"{name}" of criterion 4: Input should' for name in ("weight", "required"))


@pytest.mark.parametrize(
    ("items", "problems"),
    [
        ([], ["there are 0 criteria; 3 to 7 are wanted"]),
        (THREE[:2], ["there are 2 criteria; 3 to 7 are wanted"]),
        ([check(f"c{n}") for n in range(8)], ["there are 8 criteria; 3 to 7 are wanted"]),
        ([*THREE, "Names d"], ["criterion 4 is not an object"]),
        (
            [*THREE, {"id": "d", "expected_outcome": "D"}],
            ['criterion 4 has no "weight"', 'criterion 4 has no "required"'],
        ),
        ([*THREE, check("d", x=1)], ['criterion 4 has a property "x" that is not asked for']),
        ([*THREE, check("two words")], ['"id" of criterion 4 must be letters, digits and hyphens']),
        ([*THREE, check("d", expected_outcome="one\ntwo")], [ONE_LINE.format("expected_outcome")]),
        ([*THREE, check("d", expected_outcome=" ")], [ONE_LINE.format("expected_outcome")]),
        ([*THREE, check("d", applies_if="a\nb")], [ONE_LINE.format("applies_if")]),
        ([*THREE, check("d", weight=0)], [f"{WEIGHT} be greater than 0"]),
        ([*THREE, check("d", weight="1")], [f"{WEIGHT} be a valid number"]),
        ([*THREE, check("d", required="yes")], [f"{REQUIRED} be a valid boolean"]),
        (
            [*THREE, fault("d", weight=1, penalty=0)],
            [
                '"penalty" of criterion 4: Input should be greater than 0',
                'criterion 4 has a property "weight" that is not asked for',
            ],
        ),
        ([*THREE, check("a")], ["criterion 4 (a): the id `a` is taken by an earlier criterion"]),
        (
            [*THREE, scored("d")],
            ["criterion 4 is a score-range criterion; only checklist ones are wanted"],
        ),
    ],
)
def test_wrong(items: Any, problems: list[str]) -> None:
    assert read(items) == InvalidReply(tuple(problems))


@pytest.mark.parametrize(
    ("item", "problem"),
    [
        (scored("d", [0, 3], [5, 10]), "criterion 4 (d): no range covers 4"),
        (scored("d", [0, 5], [5, 10]), "criterion 4 (d): [5, 10] overlaps [0, 5]"),
        (
            scored("d", required_min_score=11),
            "criterion 4 (d): `required_min_score` must be at most 10, not 11",
        ),
        (levelled("d", 1, 1), "criterion 4 (d): the level 1 is declared twice"),
    ],
)
def test_the_rules_of_validate_apply(item: Any, problem: str) -> None:
    assert read([*THREE, item], "auto") == InvalidReply((problem,))


@pytest.mark.parametrize(
    "text", ['{"rubrics": {}}', '{"criteria": []}', '{"rubrics": [], "note": "x"}', "{}"]
)
def test_another_object(text: str) -> None:
    message = 'the object must have one property, "rubrics", which is a list'
    assert read_draft(text, "checklist") == InvalidReply((message,))


def test_prose_around_the_object_is_fine_and_no_object_is_not() -> None:
    text = "```json\n" + json.dumps({"rubrics": THREE}) + "\n```"
    assert isinstance(read_draft(text, "checklist"), Draft)
    assert read_draft("I cannot", "checklist") == InvalidReply(("the reply holds no JSON object",))


@pytest.mark.parametrize("kind", get_args(Kind))
def test_schemas_are_strict(kind: Kind) -> None:
    schema = {"all": [draft_schema(kind), draft_schema(kind, plain=True)]}
    Draft202012Validator.check_schema(schema)
    for part in objects(schema):
        assert part["additionalProperties"] is False
        assert part["required"] == list(part["properties"])


@pytest.mark.parametrize(
    ("kind", "item"),
    [("checklist", check("a")), ("score-range", scored("a")), ("levels", levelled("a"))],
)
def test_schemas_and_reading_agree(kind: Kind, item: Any) -> None:
    items = [item | {"id": name} for name in "abc"]
    for requested in (kind, "auto"):
        assert isinstance(read(items, requested), Draft)
        with_fault = [*items, fault("d", applies_if="It is asked for")]
        Draft202012Validator(draft_schema(requested)).validate({"rubrics": with_fault})


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for value in schema.values():
            yield from objects(value)
    if isinstance(schema, list):
        for value in schema:
            yield from objects(value)


EDITED = """\
# mine
rubrics:
  - Names the limit
  - id: way
    expected_outcome: Explains the way
    score_ranges: {0: poor, 6: fine}
"""


def test_edited_rubrics_may_have_all_that_validate_accepts() -> None:
    draft = read_rubrics(EDITED)
    assert isinstance(draft, Draft)
    assert draft.rubrics[0] == "Names the limit"
    assert [criterion.kind for criterion in draft.rubric] == ["checklist", "score-range"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("rubrics: [", "line 1: "),
        ("", "line 1: the file is empty"),
        ("rubrics: []", "there must be one key, `rubrics`, with a list of criteria"),
        ("criteria: [a]", "there must be one key, `rubrics`, with a list of criteria"),
        ("rubrics: [a, {id: x}]", "criterion 2 (x): "),
        ("rubrics: [a, {weight: heavy}]", "criterion 2: "),
    ],
)
def test_edited_rubrics_are_checked(text: str, problem: str) -> None:
    wrong = read_rubrics(text)
    assert isinstance(wrong, InvalidReply)
    assert wrong.problems[0].startswith(problem)


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("Uses the emoji 😀 and \U0001d465", "Uses the emoji 😀 and \U0001d465"),
        (" Starts with a blank ", "Starts with a blank"),
        ("Ends with a line break\n", "Ends with a line break"),
    ],
)
def test_texts_that_cost_no_further_request(written: str, kept: str) -> None:
    draft = read([check("a", expected_outcome=written), check("b"), check("c")])
    assert isinstance(draft, Draft)
    assert draft.rubric.criteria[0].text == kept
