"""Marks from a judge's reply: every anomaly is a problem, none becomes a mark."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.models.judge.reply import InvalidReply, find_object, read_marks
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.rubric import (
    Check,
    Judged,
    Judgement,
    Level,
    Levelled,
    Mark,
    Scored,
    ScoreRange,
)
from rubric_ci.values.scoring import CANNOT_ASSESS

SPAN = Span(1, 1, 1, 2)
CRITERIA: tuple[Judged, ...] = (
    Check(id="polite", text="Is polite", span=SPAN),
    Scored(id="depth", ranges=(ScoreRange(low=0, high=10, text="any"),), span=SPAN),
    Levelled(
        id="tone", levels=(Level(level=1, text="cold"), Level(level=5, text="warm")), span=SPAN
    ),
)


def entry(**properties: object) -> dict[str, object]:
    return {"evidence": "Dear", "reasoning": "A salutation.", **properties}


GOOD = {"c1": entry(satisfied=True), "c2": entry(score=7), "c3": entry(level=5)}
MARKS = {
    name: Mark(value=value, reasoning="A salutation.", evidence="Dear")
    for name, value in {"polite": True, "depth": 7, "tone": 5}.items()
}
INVALID = "the reply is not valid JSON"
TEXT = json.dumps(GOOD)


def changed(**entries: object) -> str:
    return json.dumps({**GOOD, **entries})


def listed(*checks: object, **more: object) -> str:
    return json.dumps({"checks": checks, **more})


ACCEPTED = {
    "as asked": TEXT,
    "white space around": f"\n  {TEXT}\n",
    "a fence around": f"```json\n{TEXT}\n```",
    "prose around": f"Here are the marks.\n\n{TEXT}\n\nI hope this helps.",
    "prose that ends with a comma": f"Here you are, {TEXT}",
    "the order does not matter": json.dumps(dict(reversed(GOOD.items()))),
    "the list form": listed(*({"id": name, **value} for name, value in GOOD.items())),
    "the list form with the criteria's own ids": listed(
        {"id": "polite", **GOOD["c1"]}, {"id": "depth", **GOOD["c2"]}, {"id": "tone", **GOOD["c3"]}
    ),
    "the list form, repeated with the same mark": listed(
        *({"id": name, **value} for name, value in GOOD.items()), {"id": "c1", "satisfied": True}
    ),
}


@pytest.mark.parametrize("text", ACCEPTED.values(), ids=ACCEPTED)
def test_accepted(text: str) -> None:
    assert read_marks(text, CRITERIA) == Judgement(MARKS)


def test_the_list_form_may_leave_reasons_out_and_speak_of_the_whole() -> None:
    text = listed(
        {"id": "c1", "satisfied": False},
        {"id": "c2", "score": 0},
        {"id": "c3", "level": 1},
        overall_reasoning="Curt.",
    )
    marks = {"polite": Mark(value=False), "depth": Mark(value=0), "tone": Mark(value=1)}
    assert read_marks(text, CRITERIA) == Judgement(marks, "Curt.")


@pytest.mark.parametrize("score", range(11))
def test_every_score_from_0_to_10(score: int) -> None:
    found = read_marks(changed(c2=entry(score=score, evidence="Größe")), CRITERIA)
    mark = Mark(value=score, reasoning="A salutation.", evidence="Größe")
    assert found == Judgement({**MARKS, "depth": mark})


def test_no_ground_is_a_mark_of_its_own() -> None:
    kinds = {"c1": "satisfied", "c2": "score", "c3": "level"}
    text = json.dumps({alias: {kind: CANNOT_ASSESS} for alias, kind in kinds.items()})
    marks = {name: Mark(value=CANNOT_ASSESS) for name in ("polite", "depth", "tone")}
    assert read_marks(text, CRITERIA) == Judgement(marks)


SEVERAL = "the reply holds more than one JSON object; expected exactly one"
MARKED = [{"id": n, **v} for n, v in GOOD.items()]
NO_SCORE = 'c1 (polite) has a property "score" that is not asked for'
REFUSED = {
    "empty": (" \n", ["the reply is empty"]),
    "no JSON": ("I would give it a seven.", ["the reply holds no JSON object"]),
    "a list": (f"[{TEXT}]", ["the reply is a list; one JSON object is wanted"]),
    "a list in prose": (f"Marks: [{TEXT}]", ["the reply is a list; one JSON object is wanted"]),
    "two objects": (f"{TEXT}\n{TEXT}", [SEVERAL]),
    "a draft before": (f"Draft: {changed(c2=entry(score=3))} Final: {TEXT}", [SEVERAL]),
    "cut": (TEXT[:60], [f"{INVALID}: Unterminated string starting at: line 1 column 59 (char 58)"]),
    "an inner object of a broken one does not count": (
        '{"draft": {"c1": 1} ' + TEXT,
        [f"{INVALID}: Expecting ',' delimiter: line 1 column 21 (char 20)"],
    ),
    "a duplicate key": (
        f'{{"c1": {json.dumps(entry(satisfied=False))}, {TEXT[1:]}',
        ['the key "c1" is twice in one object'],
    ),
    "a duplicate key inside": (
        TEXT.replace('"score": 7', '"score": 2, "score": 7'),
        ['the key "score" is twice in one object'],
    ),
    "not a number": (TEXT.replace("7", "NaN"), ["NaN is not JSON"]),
    "nested without end": ("{" + '"a": {' * 100_000, ["the JSON is nested too deeply"]),
    "one omitted": (json.dumps({"c1": GOOD["c1"], "c3": GOOD["c3"]}), ["c2 (depth) is missing"]),
    "all": ("{}", ["c1 (polite) is missing", "c2 (depth) is missing", "c3 (tone) is missing"]),
    "unknown": (changed(c9=entry(satisfied=True)), ['"c9" is not one of c1, c2, c3']),
    "unknown and omitted are both said": (
        json.dumps({"c1": GOOD["c1"], "c2": GOOD["c2"], "level": 5}),
        ['"level" is not one of c1, c2, c3', "c3 (tone) is missing"],
    ),
    "repeated with another mark": (
        listed(*MARKED, {"id": "polite", "satisfied": False}),
        ["c1 (polite) is marked twice and differently"],
    ),
    "list entry without id": (listed({}), ['entry 1 of "checks" has no "id" that is a string']),
    "list entry that is none": (listed("c1"), ['"checks.0": Input should be a valid dictionary']),
    "more than marks": (listed(*MARKED, score=10), ['"score": Extra inputs are not permitted']),
    "a remark that is no text": (
        listed(*MARKED, overall_reasoning=5),
        ['"overall_reasoning": Input should be a valid string'],
    ),
    "61 characters are cut": (
        changed(c1=entry(satisfied="x" * 59)),
        [f'"satisfied" of c1 (polite) is "{"x" * 56}...; wanted: true, false or "cannot_assess"'],
    ),
    "another mark": (changed(c1=entry(score=7)), ['c1 (polite) has no "satisfied"', NO_SCORE]),
    "two marks": (changed(c1=entry(satisfied=True, score=0)), [NO_SCORE]),
    "a bare mark": (changed(c1=True), ["c1 (polite) is true; an object is wanted"]),
    "evidence that is no text": (
        changed(c1={"evidence": ["Dear"], "satisfied": True}),
        ['"evidence" of c1 (polite) is ["Dear"]; a string is wanted'],
    ),
    "half of a surrogate pair": (
        changed(c1=entry(satisfied=True, reasoning="\ud83d")),
        ['"reasoning" of c1 (polite) is "\ud83d"; a string is wanted'],
    ),
    "a score and a level with a fraction": (
        changed(c2=entry(score=7.0), c3=entry(level=5.0)),
        [
            '"score" of c2 (depth) is 7.0; wanted: an integer from 0 to 10 or "cannot_assess"',
            '"level" of c3 (tone) is 5.0; wanted: one of 1, 5 or "cannot_assess"',
        ],
    ),
    "all problems of an entry": (
        changed(c1={"more": 1, "satisfied": 0, "reasoning": 2, "evidence": 3}),
        [
            '"evidence" of c1 (polite) is 3; a string is wanted',
            '"reasoning" of c1 (polite) is 2; a string is wanted',
            '"satisfied" of c1 (polite) is 0; wanted: true, false or "cannot_assess"',
            'c1 (polite) has a property "more" that is not asked for',
        ],
    ),
    "a list with more": (
        listed(7, {}, more=1, overall_reasoning=2),
        [
            '"checks.0": Input should be a valid dictionary',
            '"overall_reasoning": Input should be a valid string',
            '"more": Extra inputs are not permitted',
        ],
    ),
}


@pytest.mark.parametrize(("text", "problems"), REFUSED.values(), ids=REFUSED)
def test_refused(text: str, problems: list[str]) -> None:
    assert read_marks(text, CRITERIA) == InvalidReply(tuple(problems))


WANTED = {
    "c1": ("polite", "satisfied", 'true, false or "cannot_assess"'),
    "c2": ("depth", "score", 'an integer from 0 to 10 or "cannot_assess"'),
    "c3": ("tone", "level", 'one of 1, 5 or "cannot_assess"'),
}
NOT_OFFERED = [
    *(("c2", value) for value in (11, -1, 7.5, 7.0, "8", True)),
    *(("c1", value) for value in (1, "yes", "größer", None, "x" * 58)),
    *(("c3", value) for value in (3, True)),
]


@pytest.mark.parametrize(("alias", "value"), NOT_OFFERED)
def test_a_mark_that_was_not_offered(alias: str, value: object) -> None:
    name, key, wanted = WANTED[alias]
    shown = json.dumps(value, ensure_ascii=False)
    problem = f'"{key}" of {alias} ({name}) is {shown}; wanted: {wanted}'
    text = changed(**{alias: entry(**{key: value})})
    assert read_marks(text, CRITERIA) == InvalidReply((problem,))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 12) | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["c1", "c2", "c3", "score", "level", "satisfied"]), inner)
    ),
)


@given(json_values)
def test_whatever_comes_is_a_whole_judgement_or_a_reason(value: object) -> None:
    result = read_marks(json.dumps(value), CRITERIA)
    match result:
        case InvalidReply(problems):
            assert problems
        case Judgement(marks):
            assert list(marks) == ["polite", "depth", "tone"]
            assert type(marks["polite"].value) in (bool, str)
            assert marks["depth"].value in (CANNOT_ASSESS, *range(11))
            assert marks["tone"].value in (CANNOT_ASSESS, 1, 5)


@given(st.text())
def test_no_text_breaks_the_reader(text: str) -> None:
    assert isinstance(read_marks(text, CRITERIA), InvalidReply)


@pytest.mark.parametrize("tag", ["think", "thinking"])
def test_a_leading_block_of_thoughts_is_cut(tag: str) -> None:
    thoughts = f'\n<{tag}>The user wants {{x}}, and "{{}}".\n</{tag}>\n'
    assert find_object(f'{thoughts}{{"a": 1}}') == {"a": 1}


@pytest.mark.parametrize(
    "text",
    [
        '<think>{"a": 2} {"a": 1}',
        '{"b": "<think>{x}</think>"} {"a": 1}',
        'So: <think>{"a": 2}</think> {"a": 1}',
        '<think>{x}</think><think>{y}</think> {"a": 1}',
    ],
)
def test_any_other_thoughts_are_not_cut(text: str) -> None:
    assert isinstance(find_object(text), InvalidReply)
