"""Tests that are drafted for criteria: the reply, and the check by the judge."""

import json
from typing import Any

import pytest

from rubric_ci.errors import CannotReachModel
from rubric_ci.models.judge.reply import InvalidReply
from rubric_ci.services.drafting.draft_check import Drafted, DraftTest, call_for_tests, read_tests
from rubric_ci.services.drafting.drafter import DraftFailed
from rubric_ci.services.drafting.drafting_reply import Draft, validated
from rubric_ci.values.llm_calls import ModelCall
from rubric_ci.values.rubric import Judged
from tests.services.drafting.test_drafter import ENDPOINT, ITEMS, answering, case, draft_all

NO_ID = "an entry has no id that is a text"
WRITTEN: list[dict[str, Any]] = [
    {"id": "limit", "expected_outcome": "Names the limit", "applies_if": "It is asked for"},
    {"id": "day", "expected_outcome": "Promises a day", "penalty": 2},
    {"id": "depth", "score_ranges": {0: "no", 3: "half", 9: "all"}, "expected_outcome": "Explains"},
    {"id": "tone", "levels": {1: "Rude", 2: "Flat", 4: "Warm"}},
]


def criteria() -> tuple[Judged, ...]:
    draft = validated(WRITTEN)
    assert isinstance(draft, Draft)
    return draft.rubric.judged


def reply(*items: Any) -> str:
    return json.dumps({"tests": items})


def pair(name: str, **texts: Any) -> dict[str, Any]:
    return {"id": name, "yes": f"{name} yes", "no": f"{name} no", **texts}


ALL = [pair(str(each["id"])) for each in WRITTEN]


def test_marks_of_each_kind() -> None:
    read = read_tests(reply(*ALL), criteria())
    assert not isinstance(read, InvalidReply)
    assert read == (
        DraftTest("limit", "limit yes", (True,)),
        DraftTest("limit", "limit no", (False,)),
        DraftTest("day", "day yes", (True,)),
        DraftTest("day", "day no", (False,)),
        DraftTest("depth", "depth yes", (9, 10)),
        DraftTest("depth", "depth no", (0, 1, 2)),
        DraftTest("tone", "tone yes", (4,)),
        DraftTest("tone", "tone no", (1,)),
    )
    assert read[4].written == {"answer": "depth yes", "marks": {"depth": [9, 10]}}
    assert read[0].written == {"answer": "limit yes", "marks": {"limit": True}}


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("{}", ['the object must have one property, "tests", which is a list']),
        (reply(*ALL[1:]), ['there is no entry for the criterion "limit"']),
        (reply(*ALL, pair("extra")), ['there is no criterion "extra"']),
        (
            reply(*ALL[1:], pair("limit", yes=" ")),
            ['"yes" and "no" of "limit" must be texts of 1 to 2,000 characters'],
        ),
        (
            reply(*ALL[1:], pair("limit", yes="a", no="a")),
            ['"yes" and "no" of "limit" are the same text'],
        ),
        (reply(*ALL, pair("day")), ['there are two entries for the criterion "day"']),
        (reply(*ALL, "day", {"id": [1]}), [f'{NO_ID}: "day"', f'{NO_ID}: {{"id": [1]}}']),
    ],
    ids=["no list", "missing", "unknown", "blank", "same", "twice", "no id"],
)
def test_wrong_replies(text: str, problems: list[str]) -> None:
    assert read_tests(text, criteria()) == InvalidReply(tuple(problems))


def test_the_request_shows_the_criteria_inside_the_fence() -> None:
    call = call_for_tests(case("a"), criteria(), ENDPOINT, None, "f1")
    user = call.messages[1].content
    shown = user.partition("<data_f1>\n")[2].partition("\n</data_f1>")[0]
    assert [each["id"] for each in json.loads(shown)] == ["limit", "day", "depth", "tone"]
    assert '"penalty": 2.0' in shown
    assert call.about == "evals/a.yaml: a: tests"


def judged(call: ModelCall) -> str:
    """Draft, write answers with the id of a criterion, and mark what an answer names."""
    names = [str(each["id"]) for each in ITEMS]
    if call.about.endswith(": draft"):
        return json.dumps({"rubrics": ITEMS})
    if call.about.endswith(": tests"):
        return reply(*(pair(name, yes=f"the {name}", no="nothing") for name in names))
    answer = call.messages[-1].content.partition("<answer_")[2].partition("</answer_")[0]
    marks = {f"c{n}": name in answer or name == "way" for n, name in enumerate(names, 1)}
    return json.dumps(
        {k: {"evidence": "", "reasoning": "so", "satisfied": mark} for k, mark in marks.items()}
    )


def test_only_tests_that_the_judge_passes_are_kept() -> None:
    [made] = draft_all(answering(judged), case("a"), tests=True)
    assert isinstance(made, Drafted)
    assert list(made.draft.tests) == [
        {"answer": "the limit", "marks": {"limit": True}},
        {"answer": "nothing", "marks": {"limit": False}},
        {"answer": "the way", "marks": {"way": True}},
        {"answer": "the thanks", "marks": {"thanks": True}},
        {"answer": "nothing", "marks": {"thanks": False}},
    ]
    assert made.warnings == (
        "way: a test is left out: the judge marks true where false is expected, of “nothing”",
    )
    assert (made.unchecked, made.usage.calls) == ("", 8)
    assert made.draft.written == {"criteria": ITEMS, "tests": [*made.draft.tests]}


def test_a_judge_that_is_down_leaves_the_draft_without_tests() -> None:
    def ask(call: ModelCall) -> str:
        if call.about.endswith((": draft", ": tests")):
            return judged(call)
        raise CannotReachModel("the judge answers 503")

    [made] = draft_all(answering(ask), case("a"), tests=True)
    assert not isinstance(made, DraftFailed)
    assert (made.draft.tests, made.unchecked) == ((), "its tests: the judge answers 503")


def test_tests_that_stay_wrong_leave_the_draft() -> None:
    wrong = answering(lambda call: judged(call) if call.about.endswith(": draft") else "{}")
    [made] = draft_all(wrong, case("a"), tests=True)
    assert not isinstance(made, DraftFailed)
    assert made.draft.rubrics == tuple(ITEMS)
    assert made.unchecked.startswith("its tests: openai/m: no valid reply in 3 attempts")
