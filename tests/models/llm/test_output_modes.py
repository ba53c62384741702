"""Servers that refuse the output mode: what is sent next, what is kept, and what is reported."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from rubric_ci.errors import CannotReachModel
from rubric_ci.models.llm.budget import Budget, Caps
from rubric_ci.models.llm.client import (
    CircuitBreaker,
    OutputModes,
    connect,
    output_mode_of,
    request,
)
from rubric_ci.models.llm.model_info import prices_of
from rubric_ci.values.config import OutputMode
from rubric_ci.values.llm_calls import ModelCall, ModelReply
from rubric_ci.values.usage import Usage
from tests.bodies import Body, answering
from tests.cases import build_call

SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
OK = Body(
    content=json.dumps(
        {
            "choices": [{"message": {"content": "{}"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 3, "completion_tokens": 1},
        }
    ).encode()
)


def refusal(message: str, status: int = 400) -> Body:
    return Body(content=json.dumps({"error": {"message": message}}).encode(), status=status)


UNAVAILABLE = refusal("This response_format type is unavailable now")
UNIONS = refusal("Schemas contains too many parameters with union types; output_format.schema")


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What the server was sent, and what came of it."""

    modes: Sequence[str]
    outcomes: Sequence[ModelReply | str]
    notes: Sequence[str]


def call_at(url: str, mode: OutputMode | None) -> ModelCall:
    options = {"api_base": f"{url}/v1", "api_key": "none"}
    return build_call("openai/my-own", options=options, output_schema=SCHEMA, output_mode=mode)


def ask(*bodies: Body, mode: OutputMode | None = "json_schema", times: int = 1) -> Seen:
    """Send equal calls, one after the other, in one run."""
    notes: list[str] = []
    outcomes: list[ModelReply | str] = []

    async def run(call: ModelCall) -> None:
        budget, breaker = Budget(Caps(), prices_of), CircuitBreaker()
        send = connect(concurrency=1, budget=budget, add_note=notes.append, breaker=breaker)
        for _ in range(times):
            try:
                outcomes.append(await send(call))
            except CannotReachModel as error:
                outcomes.append(str(error))

    with answering(*bodies) as server:
        asyncio.run(run(call_at(server.url, mode)))
        sent = [json.loads(body).get("response_format", {}) for body in server.requests]
    return Seen(modes=[form.get("type", "prompt") for form in sent], outcomes=outcomes, notes=notes)


def test_the_next_simpler_mode_is_sent_and_kept() -> None:
    seen = ask(UNAVAILABLE, OK, times=3)
    assert seen.modes == ["json_schema", "json_object", "json_object", "json_object"]
    first, second, _ = seen.outcomes
    assert isinstance(first, ModelReply)
    assert isinstance(second, ModelReply)
    assert first.usage == Usage(calls=2, input_tokens=3, output_tokens=1, unpriced_calls=1)
    assert second.usage.calls == 1
    assert seen.notes == [
        (
            "openai/my-own refused the output mode, so this run uses `json_object`; set "
            "`judge.output: json_object` to send it at once "
            "(HTTP 400: This response_format type is unavailable now)"
        )
    ]


def test_a_server_that_refuses_both_gets_the_form_in_the_prompt() -> None:
    seen = ask(UNIONS, UNAVAILABLE, OK, times=2)
    assert seen.modes == ["json_schema", "json_object", "prompt", "prompt"]
    assert [note.partition("; ")[0].rpartition(" ")[2] for note in seen.notes] == [
        "`json_object`",
        "`prompt`",
    ]


@pytest.mark.parametrize(
    ("body", "mode", "reason"),
    [
        pytest.param(
            refusal("context length exceeded"),
            "json_schema",
            "HTTP 400: context length exceeded",
            id="about something else",
        ),
        pytest.param(
            refusal("no access to json_schema", 403),
            "json_schema",
            "HTTP 403: no access to json_schema",
            id="not allowed",
        ),
        pytest.param(
            UNAVAILABLE,
            "prompt",
            "HTTP 400: This response_format type is unavailable now",
            id="nothing simpler",
        ),
    ],
)
def test_other_refusals_are_not_sent_again(body: Body, mode: OutputMode, reason: str) -> None:
    seen = ask(body, mode=mode)
    outcome = f"openai/my-own: {reason} (1 request)"
    assert (seen.modes, seen.outcomes, seen.notes) == ([mode], [outcome], [])


def test_requests_in_flight_report_it_once() -> None:
    notes: list[str] = []

    async def run(url: str) -> list[ModelReply]:
        send = OutputModes(output_mode_of, notes.append).wrap(request)
        return await asyncio.gather(*(send(call_at(url, "json_schema")) for _ in range(3)))

    with answering(UNAVAILABLE, UNAVAILABLE, UNAVAILABLE, OK) as server:
        assert len(asyncio.run(run(server.url))) == 3
    assert len(notes) in {1, 2}  # a refusal may reach a request that is simpler already
