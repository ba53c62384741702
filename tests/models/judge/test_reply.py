"""The reply schema: what it demands of each kind of criterion, and how large it may be."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from rubric_ci.models.judge.reply import aliased, is_allowed, keyed_schema, mark_and_values
from rubric_ci.models.judge.reply_checks import with_canary
from rubric_ci.models.judge.voting import grouped, most_per_request
from rubric_ci.values.config import JudgeConfig
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.json_value import JSON
from rubric_ci.values.llm_calls import ChatMessage, call_key
from rubric_ci.values.rubric import (
    ByJudge,
    Check,
    Choice,
    Chosen,
    Judged,
    Level,
    Levelled,
    Scored,
    ScoreRange,
)
from rubric_ci.values.targets import Endpoint

ANTHROPIC_UNIONS = 16  # parameters with `anyOf` or several types, per request

SPAN = Span(1, 1, 1, 2)
CHECK = Check(id="c", text="x", span=SPAN)
SCORED = Scored(id="s", ranges=(ScoreRange(low=0, high=10, text="x"),), span=SPAN)
LEVELS = (Level(level=1, text="a"), Level(level=2, text="b"), Level(level=4, text="c"))
LEVELLED = Levelled(id="l", levels=LEVELS, span=SPAN)
FAULT = Check(id="f", text="x", fault=True, span=SPAN)
IF = Check(id="i", text="x", applies_if=ByJudge(text="It rains"), span=SPAN)
CHOSEN = Chosen(
    id="h", choices=(Choice(name="pay", score=1), Choice(name="wait", score=0)), span=SPAN
)
KINDS = (CHECK, SCORED, LEVELLED)


def criteria(count: int) -> tuple[Judged, ...]:
    """Return criteria of all kinds in turn."""
    return tuple(KINDS[n % 3] for n in range(count))


def entry(name: str, mark: JSON) -> JSON:
    """Return the schema of the entry of one criterion."""
    text = {"type": "string"}
    cannot = {"type": "string", "enum": ["cannot_assess"]}
    return {
        "type": "object",
        "properties": {"evidence": text, "reasoning": text, name: {"anyOf": [mark, cannot]}},
        "required": ["evidence", "reasoning", name],
        "additionalProperties": False,
    }


def test_each_criterion_has_one_entry_of_its_kind() -> None:
    assert keyed_schema(KINDS)[0] == {
        "type": "object",
        "properties": {
            "c1": entry("satisfied", {"type": "boolean"}),
            "c2": entry("score", {"type": "integer", "enum": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}),
            "c3": entry("level", {"type": "integer", "enum": [1, 2, 4]}),
        },
        "required": ["c1", "c2", "c3"],
        "additionalProperties": False,
    }


def test_a_fault_is_present_or_not() -> None:
    (found,) = keyed_schema((FAULT,))[0]["properties"].values()
    assert found["properties"]["present"] == {"type": "boolean"}
    marks = (True, False, "cannot_assess")
    assert [is_allowed(FAULT, mark) for mark in marks] == [True, True, False]


def test_choices_are_an_enum() -> None:
    marks = [
        keyed_schema((each,))[0]["properties"]["c1"]["properties"]["choice"]
        for each in (CHOSEN, replace(CHOSEN, fault=True))
    ]
    names = ["pay", "wait"]
    enums = [[*names, "cannot_assess"], names]
    assert marks == [{"type": "string", "enum": enum} for enum in enums]


def test_criteria_have_aliases_and_their_marks_names() -> None:
    assert aliased(KINDS) == {"c1": CHECK, "c2": SCORED, "c3": LEVELLED}
    assert [mark_and_values(each)[0] for each in KINDS] == ["satisfied", "score", "level"]


def test_the_judge_writes_the_mark_last() -> None:
    written = keyed_schema((SCORED,))[0]["properties"]["c1"]
    order = ["evidence", "reasoning", "score"]
    assert (list(written["properties"]), written["required"]) == (order, order)


@pytest.mark.parametrize(
    ("criterion", "marks"),
    [
        (CHECK, 'true, false or "cannot_assess"'),
        (SCORED, 'an integer from 0 to 10 or "cannot_assess"'),
        (FAULT, "true or false"),
        (IF, 'true, false, "cannot_assess" or "not_applicable"'),
        (replace(IF, fault=True), 'true, false or "not_applicable"'),
        (CHOSEN, 'one of "pay", "wait" or "cannot_assess"'),
        (replace(CHOSEN, fault=True), 'one of "pay" or "wait"'),
        (LEVELLED, 'one of 1, 2, 4 or "cannot_assess"'),
    ],
)
def test_the_marks_that_a_prompt_names(criterion: Judged, marks: str) -> None:
    assert mark_and_values(criterion)[1] == marks


@pytest.mark.parametrize("canary", [False, True], ids=["plain", "canary"])
@pytest.mark.parametrize("count", [*range(1, 41), 100])
def test_no_request_has_more_unions_than_anthropic_accepts(count: int, canary: bool) -> None:
    judge = JudgeConfig(endpoint=Endpoint(model="m", options={}), canary=canary)
    for group in grouped(criteria(count), most_per_request(judge)):
        asked = with_canary(group, "answer") if canary else group
        assert json.dumps(keyed_schema(asked)[0]).count('"anyOf"') <= ANTHROPIC_UNIONS


@pytest.mark.parametrize("criteria", [KINDS, KINDS[:1], (SCORED,)], ids=["all", "one", "scored"])
def test_a_key_with_the_schema_as_a_text_is_the_same(criteria: Sequence[Judged]) -> None:
    endpoint, asked = Endpoint(model="openai/m"), (ChatMessage(role="user", content="é"),)
    key = call_key(endpoint, asked, schema=keyed_schema(criteria)[0], turn="vote 1")
    assert call_key(endpoint, asked, schema=keyed_schema(criteria)[1], turn="vote 1") == key
