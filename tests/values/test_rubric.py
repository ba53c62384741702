"""What a mark is worth, the gate that it misses, and the range or level that it is in."""

from dataclasses import replace
from typing import Any

import pytest

from rubric_ci.values.diagnostics import Span
from rubric_ci.values.rubric import (
    Assertion,
    Check,
    Choice,
    Chosen,
    Criterion,
    Level,
    Levelled,
    Mark,
    Rubric,
    Scored,
    ScoreRange,
)
from rubric_ci.values.scales import met, scale
from rubric_ci.values.scoring import CANNOT_ASSESS, MarkValue

PLACE = Span(1, 1, 1, 2)
CHECK = Check(id="c", text="t", span=PLACE)
OPTIONAL = replace(CHECK, required=False)
SCORED = Scored(
    id="s",
    ranges=(ScoreRange(low=0, high=4, text="thin"), ScoreRange(low=5, high=10, text="deep")),
    span=PLACE,
)
DEEP = replace(SCORED, required_min_score=5)
LEVELLED = Levelled(
    id="l",
    levels=(
        Level(level=1, text="cold"),
        Level(level=4, text="mild"),
        Level(level=5, name="good", text="warm"),
    ),
    span=PLACE,
)
CHOSEN = Chosen(
    id="h",
    choices=(Choice(name="refund", score=1, text="pays"), Choice(name="refuse", score=0.25)),
    required_choices=("refund",),
    span=PLACE,
)
SEVERE = replace(CHOSEN, required_choices=(), fault=True, required=True)
WARM = replace(LEVELLED, required_min_level=4)
ASSERTION = Assertion(id="a", text="t", key="equals", value="né", span=PLACE)
UNGATED = replace(ASSERTION, required=False)
FAULT = replace(CHECK, fault=True)
FOUND = replace(ASSERTION, fault=True, required=False)


@pytest.mark.parametrize(
    ("criterion", "mark", "value", "gates"),
    [
        (CHECK, True, 1.0, False),
        (CHECK, False, 0.0, True),
        (CHECK, CANNOT_ASSESS, 0.0, True),
        (OPTIONAL, False, 0.0, False),
        (OPTIONAL, CANNOT_ASSESS, 0.0, False),
        (ASSERTION, True, 1.0, False),
        (ASSERTION, False, 0.0, True),
        (FAULT, True, 0.0, True),
        (FAULT, False, 1.0, False),
        (FOUND, True, 0.0, False),
        (FOUND, False, 1.0, False),
        (CHOSEN, "refund", 1.0, False),
        (CHOSEN, "refuse", 0.25, True),
        (CHOSEN, CANNOT_ASSESS, 0.0, True),
        (SEVERE, "refuse", 0.75, True),
        (replace(SEVERE, required=False), "refund", 0.0, False),
        (UNGATED, True, 1.0, False),
        (UNGATED, False, 0.0, False),
        (SCORED, 0, 0.0, False),
        (SCORED, 7, 0.7, False),
        (SCORED, 10, 1.0, False),
        (SCORED, CANNOT_ASSESS, 0.0, False),
        (DEEP, 4, 0.4, True),
        (DEEP, 5, 0.5, False),
        (DEEP, CANNOT_ASSESS, 0.0, True),
        (LEVELLED, 1, 0.0, False),
        (LEVELLED, 4, 0.75, False),
        (LEVELLED, 5, 1.0, False),
        (LEVELLED, CANNOT_ASSESS, 0.0, False),
        (WARM, 1, 0.0, True),
        (WARM, 4, 0.75, False),
        (WARM, CANNOT_ASSESS, 0.0, True),
    ],
)
def test_the_value_of_a_mark_and_its_gate(
    criterion: Criterion, mark: MarkValue, value: float, *, gates: bool
) -> None:
    given = Mark(value=mark)
    assert (criterion.normalise(given), criterion.gates(given)) == (value, gates)


@pytest.mark.parametrize("criterion", [CHECK, ASSERTION, SCORED, LEVELLED], ids=lambda it: it.kind)
def test_a_criterion_without_a_weight_counts_once(criterion: Criterion) -> None:
    assert criterion.weight == 1.0


@pytest.mark.parametrize(
    ("criterion", "plain", "dashed"),
    [
        (CHECK, (), ()),
        (ASSERTION, ('{"equals": "né"}',), ('{"equals": "né"}',)),
        (SCORED, ("0-4: thin", "5-10: deep"), ("0 to 4: thin", "5 to 10: deep")),
        (LEVELLED, ("1: cold", "4: mild", "5 (good): warm"), ("1: cold", "4: mild", "5: warm")),
    ],
)
def test_the_scale(criterion: Criterion, plain: tuple[str, ...], dashed: tuple[str, ...]) -> None:
    assert scale(criterion) == plain
    assert scale(criterion, between=" to ", names=False) == dashed


@pytest.mark.parametrize(
    ("criterion", "mark", "expected"),
    [
        (CHECK, True, ""),
        (CHECK, CANNOT_ASSESS, ""),
        (ASSERTION, True, ""),
        (SCORED, 0, "0-4: thin"),
        (SCORED, 4, "0-4: thin"),
        (SCORED, 5, "5-10: deep"),
        (SCORED, CANNOT_ASSESS, ""),
        (LEVELLED, 1, "1: cold"),
        (LEVELLED, 4, "4: mild"),
        (LEVELLED, 5, "5 (good): warm"),
        (LEVELLED, CANNOT_ASSESS, ""),
    ],
)
def test_met(criterion: Criterion, mark: MarkValue, expected: str) -> None:
    assert met(criterion, Mark(value=mark)) == expected


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({}, '{"equals": "né"}'),
        ({"negated": True}, '{"equals": "né", "not": true}'),
        ({"ignore_case": True}, '{"equals": "né", "ignore_case": true}'),
        ({"field": "a.b"}, '{"equals": "né", "field": "a.b"}'),
    ],
)
def test_the_rule_of_an_assertion_has_what_is_set(options: dict[str, Any], rule: str) -> None:
    assert replace(ASSERTION, **options).rule == rule


def test_a_judge_marks_all_but_assertions() -> None:
    assert Rubric((CHECK, ASSERTION, SCORED, LEVELLED)).judged == (CHECK, SCORED, LEVELLED)
