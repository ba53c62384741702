"""Which model replied, and when that is another one than the requested one."""

import asyncio
from datetime import date

import pytest

from rubric_ci.models.llm.responders import ModelChecks, Responders
from rubric_ci.values.llm_calls import ModelCall, ModelReply
from rubric_ci.values.model_end_and_parameters import SWITCH
from rubric_ci.values.report import Responder
from rubric_ci.values.targets import Endpoint
from tests.cases import build_call

LUNA = "openai/gpt-6-luna"
KNOWN = {"openai/gpt-6-luna", "gpt-6-sol", "gpt-6-luna", "openai/gpt-6.1-sol-preview"}


def seen(asked: str, *replies: ModelReply) -> tuple[list[bool], tuple[Responder, ...], list[str]]:
    """Return which replies are of another model, the models that replied, and the notes."""
    notes: list[str] = []
    responders = Responders(notes.append, KNOWN.__contains__)
    left = iter(replies)

    async def request(_: ModelCall) -> ModelReply:
        return next(left)

    async def every() -> list[bool]:
        ask = responders.wrap(request)
        return [(await ask(build_call(asked))).fallback for _ in replies]

    return asyncio.run(every()), responders.list(), notes


def named(*models: str) -> list[ModelReply]:
    return [ModelReply(text="yes", model=model) for model in models]


@pytest.mark.parametrize(
    ("asked", "replies", "others"),
    [
        pytest.param("openai/gpt-6-luna", ["gpt-6-luna"], [False], id="same"),
        pytest.param("openai/gpt-6-luna", ["gpt-6-luna-2026-09-22"], [False], id="dated"),
        pytest.param("openai/gpt-6-luna", ["openai/gpt-6-luna"], [False], id="provider"),
        pytest.param("openai/gpt-6-luna", ["gpt-6-sol"], [True], id="another"),
        pytest.param("openai/gpt-6-luna", ["my-gateway"], [False], id="unknown-name"),
        pytest.param("openai/gpt-6-luna", [""], [False], id="no-name"),
        pytest.param("openai/judge", ["gpt-6-luna"] * 2, [False] * 2, id="alias"),
        pytest.param(
            "openai/judge",
            ["gpt-6-luna", "gpt-6-sol", "gpt-6-luna"],
            [False, True, False],
            id="alias-that-changes",
        ),
        pytest.param("mistral/small-latest", ["small-2506"], [False], id="latest"),
        pytest.param("openai/gpt-6.1-sol-preview", ["gpt-6.1-0125"], [False], id="preview"),
    ],
)
def test_another_model(asked: str, replies: list[str], others: list[bool]) -> None:
    found, _, notes = seen(asked, *named(*replies))
    assert found == others
    assert bool(notes) == any(others)


def test_the_models_that_replied_are_counted_and_a_fallback_is_noted_once() -> None:
    replies = [
        ModelReply(text="a", model="gpt-6-luna-2026-09-22", fingerprint="fp_1"),
        ModelReply(text="b", model="gpt-6-sol", fallback=True),
        ModelReply(text="c", model="gpt-6-sol", fallback=True),
    ]
    _, models, notes = seen("openai/gpt-6-luna", *replies)
    assert models == (
        Responder(requested=LUNA, model="gpt-6-luna-2026-09-22", fingerprint="fp_1", replies=1),
        Responder(requested=LUNA, model="gpt-6-sol", replies=2, fallback=True),
    )
    [note] = notes
    assert note == (
        "Warning: `gpt-6-sol` replied in place of `openai/gpt-6-luna`, so some marks are not "
        "of the configured model; check the fallbacks of the gateway"
    )


def asked(model: str, options: dict[str, object], times: int = 2) -> tuple[list[object], list[str]]:
    """Return the options of the sent calls, and the notes."""
    notes: list[str] = []
    sent: list[object] = []

    async def ask(call: ModelCall) -> ModelReply:
        sent.append(dict(call.endpoint.options))
        return ModelReply(text="")

    checks = ModelChecks(notes.append, date(2027, 1, 1))

    async def every() -> None:
        for _ in range(times):
            await checks.wrap(ask)(build_call(model, options=options))

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
