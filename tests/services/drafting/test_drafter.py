"""Drafting for many cases: repair, failure, the check with the reference, order and stopping."""

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rubric_ci.errors import CannotReachModel
from rubric_ci.services.drafting.draft_check import Drafted
from rubric_ci.services.drafting.drafter import (
    Drafter,
    DraftFailed,
    DraftRequest,
    DraftResult,
    draft,
)
from rubric_ci.values.config import JudgeConfig
from rubric_ci.values.context import JudgementCache, RunContext
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.llm_calls import ModelCall, ModelCaller, ModelReply
from rubric_ci.values.targets import Endpoint
from rubric_ci.values.usage import Usage
from tests.cases import MemoryCache, build_case, text_message

ENDPOINT = Endpoint(model="openai/m")
ITEMS = [
    {"id": "limit", "expected_outcome": "Names the limit", "weight": 2.0, "required": True},
    {"id": "way", "expected_outcome": "Explains the way", "weight": 1.0, "required": False},
    {"id": "thanks", "expected_outcome": "Thanks the customer", "weight": 1.0, "required": False},
]
GOOD = json.dumps({"rubrics": ITEMS})
BAD = json.dumps({"rubrics": ITEMS[:1]})


def case(name: str, reference: str = "") -> EvalCase:
    answer = (text_message(reference, "assistant"),) if reference else ()
    facts = {"file": "evals/a.yaml", "expected_outcome": "Offers a refund"}
    return build_case(id=name, expected_messages=answer, **facts)


def answering(reply: Callable[[ModelCall], str]) -> ModelCaller:
    async def ask(call: ModelCall) -> ModelReply:
        return ModelReply(text=reply(call), usage=Usage(calls=1))

    return ask


def draft_all(
    ask: ModelCaller, *cases: EvalCase, memory: JudgementCache | None = None, **options: Any
) -> list[DraftResult]:
    context = RunContext(
        call_model=ask,
        root=Path(),
        environment=os.environ,
        judge=JudgeConfig(endpoint=ENDPOINT),
        cache=memory,
    )
    drafter = Drafter(endpoint=ENDPOINT, **options)
    orders = [DraftRequest(case=case, suite=cases) for case in cases]
    return list(asyncio.run(draft(orders, drafter, context, concurrency=4)))


def test_a_draft() -> None:
    [made] = draft_all(answering(lambda _: GOOD), case("a"))
    assert isinstance(made, Drafted)
    assert list(made.draft.rubrics) == ITEMS
    assert made.warnings == ()
    assert made.usage == Usage(calls=1)


def test_an_invalid_reply_is_repaired() -> None:
    replies = iter(["nonsense", BAD, GOOD])
    seen: list[ModelCall] = []

    def reply(call: ModelCall) -> str:
        seen.append(call)
        return next(replies)

    [made] = draft_all(answering(reply), case("a"))
    assert isinstance(made, Drafted)
    assert made.usage == Usage(calls=3, repairs=2)
    assert "there are 1 criteria; 3 to 7 are wanted" in seen[2].messages[-1].content


def test_a_reply_that_stays_wrong_leaves_the_case_without_a_draft() -> None:
    [failed] = draft_all(answering(lambda _: BAD), case("a"))
    assert isinstance(failed, DraftFailed)
    wrong = "the last one: there are 1 criteria; 3 to 7 are wanted ("
    assert f": no valid reply in 3 attempts; {wrong}" in failed.reason


def test_a_model_that_goes_down_midway_leaves_the_finished_drafts() -> None:
    def reply(call: ModelCall) -> str:
        if ": b: " in call.about:
            raise CannotReachModel("the model answers 503", Usage(calls=5))
        return GOOD

    made, failed, last = draft_all(answering(reply), case("a"), case("b"), case("c"))
    assert isinstance(made, Drafted)
    assert isinstance(last, Drafted)
    down = DraftFailed(case=case("b"), reason="the model answers 503", usage=Usage(calls=5))
    assert failed == down


def test_warnings_are_kept() -> None:
    items = [*ITEMS, {**ITEMS[0], "id": "vague", "expected_outcome": "Has good quality"}]
    [made] = draft_all(answering(lambda _: json.dumps({"rubrics": items})), case("a"))
    assert isinstance(made, Drafted)
    assert made.warnings == (
        "vague: draft-vague: “good” is vague: say what the answer must contain",
    )


def test_cancelled_it_returns_the_finished_drafts() -> None:
    async def ask(call: ModelCall) -> ModelReply:
        if ": b: " in call.about:
            await asyncio.sleep(60)
        return ModelReply(text=GOOD)

    async def stopped() -> tuple[DraftResult, ...]:
        orders = [DraftRequest(case=case(name), suite=()) for name in "abc"]
        context = RunContext(call_model=ask, root=Path(), environment={})
        drafting = asyncio.create_task(
            draft(orders, Drafter(endpoint=ENDPOINT), context, concurrency=3)
        )
        await asyncio.sleep(0.1)
        drafting.cancel()
        return await drafting

    assert [result.case.id for result in asyncio.run(stopped())] == ["a", "c"]


def test_a_draft_is_cached() -> None:
    memory = MemoryCache()
    [first] = draft_all(answering(lambda _: GOOD), case("a"), memory=memory)
    [second] = draft_all(answering(lambda _: BAD), case("a"), memory=memory)
    assert isinstance(first, Drafted)
    assert isinstance(second, Drafted)
    assert second.draft == first.draft
    assert second.usage == Usage(cache_hits=1)


def test_an_invalid_cached_draft_is_requested_again() -> None:
    memory = MemoryCache()
    draft_all(answering(lambda _: GOOD), case("a"), memory=memory)
    memory.update(dict.fromkeys(memory, BAD))
    [made] = draft_all(answering(lambda _: GOOD), case("a"), memory=memory)
    assert isinstance(made, Drafted)
    assert list(memory.values()) == [GOOD]
