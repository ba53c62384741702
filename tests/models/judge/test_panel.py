"""Panels: votes, groups, cache, quorum and usage."""

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rubric_ci.errors import CannotJudge, CannotReachModel, NoVerdict
from rubric_ci.models.judge.panel import PanelRequest, PanelResult, decide
from rubric_ci.models.judge.prompt_parts import Part
from rubric_ci.values.config import JudgeConfig
from rubric_ci.values.context import RunContext
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.llm_calls import ModelCall, ModelCaller, ModelReply, Unsent
from rubric_ci.values.rubric import Assertion, Check, Mark, Rubric
from rubric_ci.values.targets import Endpoint
from rubric_ci.values.usage import Usage
from tests.cases import MemoryCache, marked_by

SPAN = Span(1, 1, 1, 2)
CASE = EvalCase(id="a", file="a.yaml", span=SPAN)

Opinion = Callable[[str, int], object]
"""The mark of a criterion's text in the n-th reply, from 1, or all of its entry."""


class Judge:
    """Marks each criterion by a function; records the requests."""

    def __init__(self, opinion: Opinion) -> None:
        self.opinion = opinion
        self.asked: list[list[str]] = []
        self.calls: list[ModelCall] = []

    async def __call__(self, call: ModelCall) -> ModelReply:
        texts = dict(re.findall(r"^(c\d+): .*\n    (.*)$", call.messages[1].content, re.MULTILINE))
        self.asked.append(list(texts.values()))
        self.calls.append(call)
        nth = len(self.asked)
        await asyncio.sleep(0)
        marks = {alias: self.opinion(text, nth) for alias, text in texts.items()}
        if any(mark == "down" for mark in marks.values()):
            raise CannotReachModel("m: down (5 requests)", Usage(calls=5))
        reply = {
            alias: mark if isinstance(mark, dict) else {"satisfied": mark}
            for alias, mark in marks.items()
        }
        return ModelReply(text=json.dumps(reply), usage=Usage(calls=1))


def check(name: str, text: str, *, required: bool = False) -> Check:
    return Check(id=name, text=text, required=required, span=SPAN)


def rubric(count: int, *, required: bool = False) -> Rubric:
    return Rubric(tuple(check(f"r{n}", f"text {n}", required=required) for n in range(count)))


def asked(
    judge: ModelCaller,
    criteria: Rubric,
    cache: MemoryCache | None = None,
    host: str = "",
    facts: dict[str, Any] | None = None,
    **config: Any,
) -> PanelRequest:
    endpoint = Endpoint(model="m", options={"api_base": host})
    return PanelRequest(
        case=CASE,
        answer="Hi",
        rubric=criteria,
        judge=JudgeConfig(endpoint=endpoint, **config),
        context=RunContext(call_model=judge, root=Path(), environment={}, cache=cache),
        about="a",
        **facts or {},
    )


def ask(judge: ModelCaller, criteria: Rubric, *of: Any, **more: Any) -> PanelResult:
    return marked_by(decide(asked(judge, criteria, *of, **more)))


def always(_: str, __: int) -> object:
    return True


def test_one_request_for_sixteen_criteria() -> None:
    judge = Judge(always)
    decision = ask(judge, rubric(16))
    assert [len(texts) for texts in judge.asked] == [16]
    assert decision.usage == Usage(calls=1)
    assert (decision.judge, decision.judges, decision.votes) == ("m", (), {})


def test_more_criteria_are_asked_in_groups() -> None:
    judge = Judge(lambda text, _: text.endswith("7"))
    decision = ask(judge, rubric(45))
    assert [len(texts) for texts in judge.asked] == [15, 15, 15]
    assert {name for name, mark in decision.judgement.marks.items() if mark.value is True} == {
        "r7",
        "r17",
        "r27",
        "r37",
    }


def test_a_request_says_which_case_it_is_about() -> None:
    judge = Judge(always)
    ask(judge, rubric(1))
    assert [call.about for call in judge.calls] == ["a"]


def test_each_request_fences_the_answer_with_64_random_bits() -> None:
    judge = Judge(always)
    ask(judge, rubric(1), votes=3)
    prompts = [call.messages[1].content for call in judge.calls]
    fences = [re.findall(r"</answer_([0-9a-f]{16})>", prompt) for prompt in prompts]
    assert len({fence for (fence,) in fences}) == 3


def test_isolated_asks_one_by_one() -> None:
    judge = Judge(always)
    ask(judge, rubric(3), mode="isolated")
    assert judge.asked == [["text 0"], ["text 1"], ["text 2"]]


def test_a_group_that_is_lost_loses_the_judgement_but_not_its_cost() -> None:
    judge = Judge(lambda text, _: "down" if text == "text 30" else True)
    with pytest.raises(CannotReachModel, match="down") as ended:
        ask(judge, rubric(32))
    assert ended.value.usage == Usage(calls=6)


def test_three_votes_make_a_majority() -> None:
    judge = Judge(lambda text, nth: nth != 2 or text == "text 0")
    decision = ask(judge, rubric(2), votes=3)
    assert {name: mark.value for name, mark in decision.judgement.marks.items()} == {
        "r0": True,
        "r1": True,
    }
    assert decision.votes == {"r0": (True, True, True), "r1": (True, False, True)}
    assert decision.usage == Usage(calls=3)
    assert len({call.key for call in judge.calls}) == 3


def test_two_votes_are_kept() -> None:
    assert ask(Judge(always), rubric(1), votes=2).votes == {"r0": (True, True)}


def test_remarks_on_the_answer_are_kept_one_per_line() -> None:
    remarks = iter(["Curt.", "", "Rude."])

    async def judge(_: ModelCall) -> ModelReply:
        checks = [{"id": "c1", "satisfied": True}]
        reply = {"checks": checks, "overall_reasoning": next(remarks)}
        return ModelReply(text=json.dumps(reply), usage=Usage(calls=1))

    decision = ask(judge, rubric(3), mode="isolated")
    assert decision.judgement.reasoning == "Curt.\nRude."


def test_each_vote_sees_an_order_of_its_own() -> None:
    judge = Judge(always)
    ask(judge, rubric(8), votes=3)
    assert len({tuple(texts) for texts in judge.asked}) == 3
    assert {tuple(sorted(texts)) for texts in judge.asked} == {tuple(sorted(judge.asked[0]))}


def by_text(**marks: list[object]) -> Opinion:
    """Return the marks of each text, one after the other, whichever request comes first."""
    left = {text.replace("_", " "): iter(given) for text, given in marks.items()}
    return lambda text, _: next(left[text])


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("votes", [3, 5])
def test_a_lost_reply_loses_the_marks_of_its_own_criterion_only(place: int, votes: int) -> None:
    first: list[object] = [True] * votes
    first[place] = "down"
    opinion = by_text(text_0=first, text_1=[False, *[True] * (votes - 1)])
    found = ask(Judge(opinion), rubric(2), mode="isolated", votes=votes)
    assert {name: mark.value for name, mark in found.judgement.marks.items()} == {
        "r0": True,
        "r1": True,
    }
    assert (len(found.votes["r0"]), len(found.votes["r1"])) == (votes - 1, votes)


def test_the_quorum_is_one_of_each_criterion() -> None:
    opinion = by_text(text_0=[True, "down", "down"], text_1=[True, True, True])
    with pytest.raises(CannotJudge) as caught:
        ask(Judge(opinion), rubric(2), mode="isolated", votes=3)
    assert str(caught.value).startswith("no quorum: only 1 of 3 votes succeeded; m: down")


def test_a_lost_group_of_many_criteria_loses_its_marks_only() -> None:
    judge = Judge(lambda text, nth: "down" if text == "text 19" and nth <= 2 else True)
    found = ask(judge, rubric(20), votes=3)
    assert len(found.judgement.marks) == 20
    assert {len(votes) for votes in found.votes.values()} == {2, 3}


def test_two_of_three_votes_are_a_quorum() -> None:
    judge = Judge(lambda _, nth: "down" if nth == 2 else True)
    decision = ask(judge, rubric(1), votes=3)
    assert decision.judgement["r0"].value is True
    assert decision.votes == {"r0": (True, True)}
    assert decision.usage == Usage(calls=7)


def test_two_votes_that_differ_decide_nothing() -> None:
    judge = Judge(lambda _, nth: "down" if nth == 2 else nth == 1)
    with pytest.raises(CannotJudge) as ended:
        ask(judge, rubric(1), votes=3)
    assert str(ended.value) == "no majority of 3 votes on r0: true, false"
    assert ended.value.usage == Usage(calls=7)


@pytest.mark.parametrize("good", [1, 2, 3])
def test_one_of_three_votes_is_no_quorum(good: int) -> None:
    judge = Judge(lambda _, nth: True if nth == good else "down")
    with pytest.raises(CannotJudge) as ended:
        ask(judge, rubric(1), votes=3)
    assert str(ended.value) == "no quorum: only 1 of 3 votes succeeded; m: down (5 requests)"
    assert ended.value.usage == Usage(calls=11)


def test_two_of_four_votes_are_no_quorum() -> None:
    judge = Judge(lambda _, nth: nth < 3 or "down")
    with pytest.raises(CannotJudge, match="no quorum: only 2 of 4 votes succeeded; m: down"):
        ask(judge, rubric(1, required=True), votes="auto")


def test_a_quote_that_is_not_in_the_answer_counts_if_evidence_is_strict() -> None:
    judge = Judge(lambda _, __: {"satisfied": True, "evidence": "Bye"})
    assert ask(judge, rubric(1)).judgement["r0"].evidence == "Bye"
    with pytest.raises(CannotJudge, match='the evidence for r0 is not in the answer: "Bye"'):
        ask(judge, rubric(1), evidence="strict")


def test_a_quote_may_be_from_all_that_the_judge_sees() -> None:
    seen = tuple(Part(name="files", title="t", text=text) for text in "12")
    judge = Judge(lambda _, __: {"satisfied": True, "evidence": "2"})
    decision = ask(judge, rubric(1), evidence="strict", facts={"seen": seen})
    assert decision.judgement["r0"].evidence == "2"
    with pytest.raises(CannotJudge, match='the evidence for r0 is not in the answer: "2"'):
        ask(judge, rubric(1), evidence="strict", facts={"seen": seen[:1]})
    call = judge.calls[0]
    assert re.findall(r"^[12]$", call.messages[1].content, re.MULTILINE) == ["1", "2"]
    parts = asked(judge, rubric(1), facts={"seen": seen}).parts
    assert parts == {"answer": "Hi", "files": "1\n\n2"}


def test_a_mark_that_is_known_is_not_asked_for() -> None:
    assertion = Assertion(id="a", text="x", key="contains", value="x", span=SPAN)
    known = Mark(value=False, reasoning="not there")
    judge = Judge(always)
    decision = ask(judge, Rubric((assertion, *rubric(1))), facts={"known": {"a": known}})
    assert judge.asked == [["text 0"]]
    assert decision.judgement["a"] == known


def test_a_single_vote_that_is_lost_gives_its_own_reason() -> None:
    with pytest.raises(CannotReachModel) as ended:
        ask(Judge(lambda _, __: "down"), rubric(1))
    assert str(ended.value) == "m: down (5 requests)"
    assert ended.value.usage == Usage(calls=5)


AUTO = {
    "no mark decides alone": (rubric(6), lambda _, __: True, 1),
    "one mark decides": (rubric(4), lambda _, __: True, 3),
    "a gate, all agree": (rubric(1, required=True), lambda _, __: True, 3),
    "a gate in dispute": (rubric(1, required=True), lambda _, nth: nth != 3, 4),
    "a gate in dispute to the end": (rubric(1, required=True), lambda _, nth: nth not in {2, 4}, 5),
    "gate, a vote lost": (rubric(1, required=True), lambda _, nth: "down" if nth == 3 else True, 4),
}


@pytest.mark.parametrize(("criteria", "opinion", "asked"), AUTO.values(), ids=AUTO)
def test_auto_asks_where_it_matters(criteria: Rubric, opinion: Opinion, asked: int) -> None:
    judge = Judge(opinion)
    assert ask(judge, criteria, votes="auto").judgement["r0"].value is True
    assert len(judge.asked) == asked


def test_a_judgement_is_read_from_the_cache() -> None:
    cache, judge = MemoryCache(), Judge(lambda text, _: text == "text 1")
    first = ask(judge, rubric(2), cache, votes=3)
    again = ask(judge, rubric(2, required=True), cache, votes=3)
    assert len(judge.asked) == 3
    assert again.judgement == first.judgement
    assert again.usage == Usage(cache_hits=3)
    assert (first.cached, again.cached) == (frozenset(), frozenset({"r0", "r1"}))


def test_another_host_is_another_judge() -> None:
    cache, judge = MemoryCache(), Judge(always)
    ask(judge, rubric(1), cache)
    ask(judge, rubric(1), cache, host="http://127.0.0.1:1")
    assert len(judge.asked) == 2


def test_a_failure_is_not_cached() -> None:
    cache = MemoryCache()
    with pytest.raises(NoVerdict):
        ask(Judge(lambda _, __: "yes"), rubric(1), cache)
    assert cache == {}


def test_an_invalid_cache_entry_is_requested_again() -> None:
    cache, judge = MemoryCache(), Judge(always)
    ask(judge, rubric(1), cache)
    cache.update(dict.fromkeys(cache, '{"c1": {"satisfied": '))
    assert ask(judge, rubric(1), cache).usage == Usage(calls=1)
    assert list(cache.values()) == ['{"c1": {"satisfied": true}}']


def test_a_failed_canary_check_is_not_cached() -> None:
    cache = MemoryCache()
    with pytest.raises(CannotJudge, match="failed the canary check") as ended:
        ask(Judge(always), rubric(1), cache, canary=True)
    assert ended.value.usage == Usage(calls=1)
    assert cache == {}


def test_the_sentence_of_the_canary_is_new_in_each_request_and_outside_of_the_key() -> None:
    cache, judge = MemoryCache(), Judge(lambda text, _: text.startswith("text"))
    for _ in range(2):
        ask(judge, rubric(1), canary=True)
    first, again = judge.asked
    assert set(first) & set(again) == {"text 0"}
    ask(judge, rubric(1), cache, canary=True)
    assert ask(judge, rubric(1), cache, canary=True).usage == Usage(cache_hits=1)
    assert len(judge.asked) == 3


def test_the_canary_leaves_no_mark() -> None:
    judge = Judge(lambda text, _: text.startswith("text"))
    decision = ask(judge, rubric(2), canary=True, votes=3)
    assert list(decision.votes) == ["r0", "r1"]
    assert [len(texts) for texts in judge.asked] == [3, 3, 3]


def test_an_estimate_counts_the_requests_that_the_cache_leaves_and_sends_none() -> None:
    judge, cache = Judge(lambda text, _: text != "text 0"), MemoryCache()
    ask(judge, rubric(1), cache, mode="isolated")
    request = asked(judge, rubric(3), cache, mode="isolated")
    counting = replace(request, context=replace(request.context, sends=False))
    assert asyncio.run(decide(counting)) == Unsent((request.judge.endpoint,) * 2)
    assert judge.asked == [["text 0"]]
    found = marked_by(decide(request))
    assert judge.asked == [["text 0"], ["text 1"], ["text 2"]]
    assert [mark.value for mark in found.judgement.marks.values()] == [False, True, True]
