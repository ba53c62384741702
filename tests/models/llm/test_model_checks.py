"""What a run says once of each model."""

import asyncio
from datetime import date

from rubric_ci.models.llm.model_checks import ModelChecks
from rubric_ci.values.config import Endpoint
from rubric_ci.values.llm_calls import ModelCall, ModelReply
from rubric_ci.values.model_facts import SWITCH


def asked(model: str, options: dict[str, object], times: int = 2) -> tuple[list[object], list[str]]:
    """Return the options of the sent calls, and the notes."""
    notes: list[str] = []
    sent: list[object] = []

    async def ask(call: ModelCall) -> ModelReply:
        sent.append(dict(call.endpoint.options))
        return ModelReply(text="")

    checks = ModelChecks(notes.append, date(2027, 1, 1))
    call = ModelCall(endpoint=Endpoint(model=model, options=options), messages=(), key="k")

    async def every() -> None:
        for _ in range(times):
            await checks.wrap(ask)(call)

    asyncio.run(every())
    return sent, notes


def test_a_parameter_of_another_model_is_left_out() -> None:
    sent, notes = asked("openai/gpt-6-luna", {"temperature": 0, "seed": 1})
    assert sent == [{"seed": 1}] * 2
    assert notes == [
        "`temperature` is left out of requests to `openai/gpt-6-luna`, which does not take it"
    ]


def test_a_gateway_gets_every_parameter() -> None:
    options: dict[str, object] = {"temperature": 0, "api_base": "http://gateway"}
    assert asked("openai/gpt-6-luna", options, times=1) == ([options], [])


def test_an_end_is_noted_once() -> None:
    _, notes = asked("openai/gpt-4o", {})
    assert notes == [
        f"Warning: `openai/gpt-4o` is switched off on 2027-01-14, in 13 days; {SWITCH}"
    ]


def test_the_end_that_a_server_names() -> None:
    notes: list[str] = []
    checks = ModelChecks(notes.append, date(2027, 1, 1))
    checks.read_entry(Endpoint(model="openai/a"), {"shutdown_date": "2027-01-02"})
    checks.read_entry(Endpoint(model="anthropic/b"), {"retires_at": "2026-12-31T00:00:00Z"})
    checks.read_entry(Endpoint(model="anthropic/c"), {"shutdown_date": None, "retires_at": None})
    assert [note.partition(";")[0] for note in notes] == [
        "Warning: `openai/a` is switched off on 2027-01-02, in 1 day",
        "Warning: `anthropic/b` was switched off on 2026-12-31",
    ]
