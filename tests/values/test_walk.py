"""The differences of two values: each place once, items by their names, and facts of a value."""

from dataclasses import replace
from typing import Any

import pytest

from rubric_ci.values.evals import EvalCase, RubricSpec
from rubric_ci.values.messages import DataPart, Message, TextPart
from rubric_ci.values.rubric import Check, Level, Levelled, Rubric
from rubric_ci.values.walk import ABSENT, canonical, differences, facts
from tests.cases import build_case, span, text_message
from tests.model_values import changes, examples

KIND = Check(id="kind", text="Is kind", span=span())
SHORT = Check(id="short", text="Is short", span=span())
MOOD = Levelled(
    id="kind", levels=(Level(level=1, text="bad"), Level(level=2, text="good")), span=span()
)


def graded(*criteria: Check | Levelled) -> EvalCase:
    spec = RubricSpec(name="rubric", rubric=Rubric(criteria), span=span())
    return build_case(id="a", evaluators=(spec,))


CASE = graded(KIND, SHORT)
CRITERIA = "evaluators.rubric.rubric.criteria"


def walked(before: object, after: object) -> list[tuple[str, Any, Any]]:
    return [(".".join(each.path), each.before, each.after) for each in differences(before, after)]


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        (CASE, replace(CASE, span=span(9)), []),
        (CASE, replace(CASE, tags=("a",)), [("tags.0", ABSENT, "a")]),
        (CASE, replace(CASE, vars={"a": {"b": [1]}}), [("vars.a", ABSENT, {"b": [1]})]),
        (
            replace(CASE, vars={"a": {"b": [1, True]}}),
            replace(CASE, vars={"a": {"b": [True, True]}}),
            [("vars.a.b.0", 1, True)],
        ),
        (replace(CASE, vars={"a": 1, "b": 2}), replace(CASE, vars={"b": 2, "a": 1}), []),
        (CASE, graded(KIND), [(f"{CRITERIA}.short", SHORT, ABSENT)]),
        (graded(KIND), CASE, [(f"{CRITERIA}.short", ABSENT, SHORT)]),
        (CASE, graded(SHORT, KIND), [(CRITERIA, (KIND, SHORT), (SHORT, KIND))]),
        (
            CASE,
            graded(replace(KIND, weight=2.0, text="x"), SHORT),
            [(f"{CRITERIA}.kind.text", "Is kind", "x"), (f"{CRITERIA}.kind.weight", 1.0, 2.0)],
        ),
        (
            replace(CASE, input_messages=(text_message("a"), text_message("b"))),
            replace(CASE, input_messages=(text_message("b"), text_message("b"))),
            [("input_messages.0.parts.0.text", "a", "b")],
        ),
    ],
    ids=[
        *("place", "added item", "added key", "true is not 1", "order of keys", "removed"),
        *("added", "moved", "two fields", "messages by number"),
    ],
)
def test_the_places_that_differ(before: object, after: object, found: list[Any]) -> None:
    assert walked(before, after) == found


def test_another_class_differs_as_a_whole_and_in_each_field() -> None:
    places = [place for place, *_ in walked(graded(KIND), graded(MOOD))]
    assert places == [
        f"{CRITERIA}.kind{field}"
        for field in ("", ".text", ".required", ".fault", ".levels", ".required_min_level")
    ]


def test_the_order_of_structured_content_is_sent() -> None:
    then, now = (
        build_case(input_messages=(Message(role="user", parts=(DataPart(data),)),))
        for data in ({"a": 1, "b": 2}, {"b": 2, "a": 1})
    )
    assert [place for place, *_ in walked(then, now)] == ["input_messages.0.parts.0.data"]


def test_a_difference_has_the_values_above_it() -> None:
    edited = graded(KIND, replace(SHORT, text="x"))
    (found,) = differences(CASE, edited)
    assert found.owners[0] == (CASE, edited)
    assert found.owners[-1] == (SHORT, replace(SHORT, text="x"))


def test_every_change_of_every_field_is_found() -> None:
    """A new field of a case needs no code to be walked."""
    for case in examples(EvalCase)[:2]:
        missed = {
            change.place
            for change in changes(EvalCase, case)
            if not change.place[-1].startswith("Span.") and not walked(case, change.value)
        }
        assert missed == set()


def test_facts_leave_out_places_and_defaults() -> None:
    assert facts(KIND) == {"id": "kind", "text": "Is kind"}
    assert facts(replace(KIND, required=False), without=frozenset(("id",))) == {
        "text": "Is kind",
        "required": False,
    }
    assert facts((TextPart("a"), {"b": (1,)})) == [{"text": "a"}, {"b": [1]}]
    assert canonical({"b": 1, "a": "é"}) == '{"a": "é", "b": 1}'
