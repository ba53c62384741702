"""What a judge's server can do wrong, over real HTTP in three wire formats.

Each row gives what the server does, how the case ends, and how many requests were sent. No row
ends with a score that the judge did not give.
"""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rubric_ci.errors import NoVerdict
from rubric_ci.evaluators.rubric import rubric
from rubric_ci.models.llm.client import request
from rubric_ci.models.llm.failures import with_retries
from rubric_ci.values.config import JudgeConfig
from rubric_ci.values.context import RunContext
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.evals import EvalCase, RubricSpec
from rubric_ci.values.llm_calls import ChatMessage, ModelCall, ModelCaller
from rubric_ci.values.results import Answer, Assessment
from rubric_ci.values.rubric import Check, Level, Levelled, Rubric, Scored, ScoreRange
from rubric_ci.values.targets import Endpoint
from rubric_ci.values.usage import Usage
from tests.aimock import Aimock, Reply, breaks, fails, says
from tests.forwarder import swallowing

WIRES = ("openai", "openai-litellm", "anthropic", "gemini")
MODELS = {
    "openai-litellm": "openai/gpt-6-luna",
    "openai": "openai/gpt-6-luna",
    "anthropic": "anthropic/claude-sonnet-5-5",
    "gemini": "gemini/gemini-3.8-flash",
}
SPAN = Span(7, 1, 7, 2)
CASE = EvalCase(id="greeting", file="evals/a.yaml", span=SPAN, expected_outcome="Warm")
SPEC = RubricSpec(
    name="rubric",
    span=SPAN,
    rubric=Rubric(
        (
            Check(id="polite", text="Is polite", span=SPAN),
            Scored(id="depth", ranges=(ScoreRange(low=0, high=10, text="any"),), span=SPAN),
            Levelled(
                id="tone",
                levels=(Level(level=1, text="cold"), Level(level=5, text="warm")),
                span=SPAN,
            ),
        )
    ),
)


def entry(**mark: object) -> dict[str, object]:
    return {"evidence": "Dear", "reasoning": "It says so.", **mark}


GOOD = {"c1": entry(satisfied=True), "c2": entry(score=7), "c3": entry(level=5)}
SCORE = 0.9
TEXT = json.dumps(GOOD)
OK = says(TEXT)


def endpoint_of(server: Aimock, wire: str, **options: Any) -> Endpoint:
    """Return a model; with an option that our own client does not know, litellm asks it."""
    name, _, by_litellm = wire.partition("-")
    return server.endpoint(name, **({"n": 1} if by_litellm else {}), **options)


def marks(**changes: object) -> Reply:
    return says(json.dumps({**GOOD, **changes}))


def listed(*more: dict[str, object]) -> Reply:
    checks = [*({"id": name, **value} for name, value in GOOD.items()), *more]
    return says(json.dumps({"checks": checks}))


@dataclass(frozen=True, slots=True)
class Row:
    """What the server does, and how it must end: a score, or the end of the reason."""

    script: Sequence[Reply]
    ends: float | str
    requests: int
    repairs: int = 0
    unknown: int = 0  # calls that may have been billed; the amount is unknown


def wrong(reply: Reply, reason: str) -> Row:
    """A reply that is refused three times over."""
    ends = f": no valid reply in 3 attempts; the last one: {reason}"
    return Row([reply], ends, requests=3, repairs=2)


NOT_A_SCORE = '"score" of c2 (depth) is {}; wanted: an integer from 0 to 10 or "cannot_assess"'

TABLE = {
    "ok": Row([OK], SCORE, 1),
    "429 then ok": Row([fails(429), OK], SCORE, 2),
    "429 for ever": Row([fails(429)], "{scripted} (5 requests)", 5),
    "500 once": Row([fails(500), OK], SCORE, 2),
    "503 for ever": Row([fails(503)], "{scripted} (5 requests)", 5),
    "400": Row([fails(400)], "{scripted} (1 request)", 1),
    "401": Row([fails(401)], "{scripted} (1 request)", 1),
    "403": Row([fails(403)], "{scripted} (1 request)", 1),
    "404": Row([fails(404)], "{scripted} (1 request)", 1),
    "200 with an error in it, then ok": Row([fails(200), OK], SCORE, 2),
    "200 with an error in it, for ever": Row([fails(200)], "{scripted} (5 requests)", 5),
    "dropped connection then ok": Row([breaks(disconnectRate=1), OK], SCORE, 2, unknown=1),
    "broken body then ok": Row([breaks(malformedRate=1), OK], SCORE, 2, unknown=1),
    "truncated then whole": Row([says(TEXT[:40], finishReason="length"), OK], SCORE, 2, 1),
    "truncated for ever": wrong(says(TEXT, finishReason="length"), "the reply is truncated"),
    "refusal": wrong(
        says("I cannot judge this.", finishReason="content_filter"), "the model refused to mark: "
    ),
    "empty": wrong(says(" "), "the reply is empty"),
    "garbage": wrong(says("Great answer!"), "the reply holds no JSON object"),
    "omitted id, repaired": Row(
        [says(json.dumps({"c1": GOOD["c1"], "c3": GOOD["c3"]})), OK], SCORE, 2, 1
    ),
    "omitted id": wrong(
        says(json.dumps({"c1": GOOD["c1"]})), "c2 (depth) is missing; c3 (tone) is missing"
    ),
    "list form": Row([listed()], SCORE, 1),
    "repeated id, same mark": Row([listed({"id": "c2", "score": 7})], SCORE, 1),
    "repeated id, other mark": wrong(
        listed({"id": "c2", "score": 10}), "c2 (depth) is marked twice and differently"
    ),
    "unknown id": wrong(marks(c9=entry(satisfied=True)), '"c9" is not one of c1, c2, c3'),
    "11": wrong(marks(c2=entry(score=11)), NOT_A_SCORE.format("11")),
    "7.5": wrong(marks(c2=entry(score=7.5)), NOT_A_SCORE.format("7.5")),
    '"8"': wrong(marks(c2=entry(score="8")), NOT_A_SCORE.format('"8"')),
    "true": wrong(marks(c2=entry(score=True)), NOT_A_SCORE.format("true")),
    "undeclared level": wrong(
        marks(c3=entry(level=3)),
        '"level" of c3 (tone) is 3; wanted: one of 1, 5 or "cannot_assess"',
    ),
    "cannot_assess": Row([marks(c2=entry(score="cannot_assess"))], 0.666667, 1),
    "prose around JSON": Row([says(f"My marks:\n{TEXT}\nThat is all.")], SCORE, 1),
    "fenced JSON": Row([says(f"```json\n{TEXT}\n```")], SCORE, 1),
    "duplicate JSON keys": wrong(
        says(TEXT.replace('"score": 7', '"score": 7, "score": 10')),
        'the key "score" is twice in one object',
    ),
}


@pytest.fixture(scope="session")
def warm(aimock: Aimock) -> Aimock:
    """The server, after litellm has done what it does once: a second or more."""
    aimock.script(OK)
    hello = (ChatMessage(role="user", content="Hello"),)

    async def once() -> None:
        # First what imports litellm: the server closes connections that wait for it for 5 s.
        for wire in ("openai-litellm", *WIRES):
            await request(ModelCall(endpoint=endpoint_of(aimock, wire), messages=hello, key=""))

    asyncio.run(once())
    return aimock


async def assess(endpoint: Endpoint, ask: ModelCaller) -> Assessment | NoVerdict:
    """Mark an answer by three criteria of all kinds; a failure is a value."""
    judge = JudgeConfig(endpoint=endpoint)
    context = RunContext(call_model=ask, root=Path(), environment={}, judge=judge)
    try:
        result = await rubric(CASE, Answer(text="Dear you"), SPEC, context)
    except NoVerdict as error:
        return error
    assert isinstance(result, Assessment)
    return result


def grade(endpoint: Endpoint) -> tuple[Assessment | str, Usage]:
    async def at_once(_: float) -> None:
        await asyncio.sleep(0)

    result = asyncio.run(assess(endpoint, with_retries(request, sleep=at_once)))
    return (str(result) if isinstance(result, NoVerdict) else result), result.usage


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("row", TABLE.values(), ids=TABLE)
def test_fault(warm: Aimock, row: Row, wire: str) -> None:
    warm.script(*row.script)
    result, usage = grade(endpoint_of(warm, wire))
    assert len(warm.requests()) == row.requests == usage.calls
    assert usage.repairs == row.repairs
    assert usage.unpriced_calls == row.unknown
    if isinstance(row.ends, float):
        assert isinstance(result, Assessment), result
        assert result.score == row.ends
    elif row.ends.startswith("{scripted}"):
        assert isinstance(result, str)
        assert result.startswith(f"{MODELS[wire]}: ")
        assert "scripted" in result
        assert result.endswith(row.ends.removeprefix("{scripted}"))
    else:
        assert isinstance(result, str)
        assert result.startswith(MODELS[wire] + row.ends), result


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    ("hangs", "seconds", "ends"),
    [(1, 2.0, SCORE), (9, 0.4, "no reply within 0.4 s (5 requests)")],
    ids=["once", "for ever"],
)
def test_timeout(warm: Aimock, hangs: int, seconds: float, ends: float | str, wire: str) -> None:
    warm.script(OK)
    with swallowing(hangs, warm.url) as hanging:
        endpoint = endpoint_of(Aimock(hanging.url), wire, timeout_seconds=seconds)
        result, usage = grade(endpoint)
        seen = hanging.seen(usage.calls - len(warm.requests()))
    assert seen + len(warm.requests()) == usage.calls
    assert usage.unpriced_calls == min(hangs, 5)  # they may have been billed
    if isinstance(result, Assessment):
        assert (result.score, usage.calls) == (ends, 2)
    else:
        assert result == f"{MODELS[wire]}: {ends}"


@pytest.mark.parametrize("wire", WIRES)
def test_what_is_sent(warm: Aimock, wire: str) -> None:
    warm.script(OK)
    result, usage = grade(endpoint_of(warm, wire, temperature=1))
    assert isinstance(result, Assessment)
    assert (usage.input_tokens, usage.output_tokens, usage.unpriced_calls) == (100, 20, 0)
    assert usage.cost_usd > 0
    (body,) = warm.requests()
    assert body["temperature"] == 1
    assert body["messages"][-1]["content"].endswith("Reply with the JSON object only.")


def test_strict_json_schema_reaches_openai(warm: Aimock) -> None:
    warm.script(OK)
    grade(warm.endpoint("openai"))
    (body,) = warm.requests()
    form = body["response_format"]["json_schema"]
    assert form["strict"] is True
    assert form["schema"]["required"] == ["c1", "c2", "c3"]
