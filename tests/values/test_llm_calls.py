"""Keys of model calls: what changes them and what does not."""

from dataclasses import fields

import pytest

from rubric_ci.values.llm_calls import ChatMessage, call_key
from rubric_ci.values.targets import Endpoint
from rubric_ci.values.usage import Usage

ENDPOINT = Endpoint(model="openai/m", options={"temperature": 0, "api_key": "a"})
ASKED = (ChatMessage(role="user", content="Is it?"),)
KEY = call_key(ENDPOINT, ASKED)


@pytest.mark.parametrize(
    "endpoint",
    [
        Endpoint(model="openai/m", options={"temperature": 0, "api_key": "b"}),
        Endpoint(model="openai/m", options={"temperature": 0, "api_base": "http://127.0.0.1:1"}),
        Endpoint(model="openai/m", options={"temperature": 0}, timeout_seconds=1),
    ],
    ids=["api key", "host", "timeout"],
)
def test_what_a_reply_does_not_depend_on(endpoint: Endpoint) -> None:
    assert call_key(endpoint, ASKED) == KEY


@pytest.mark.parametrize(
    "key",
    [
        call_key(Endpoint(model="openai/n", options=ENDPOINT.options), ASKED),
        call_key(Endpoint(model="openai/m", options={"temperature": 1}), ASKED),
        call_key(ENDPOINT, (ChatMessage(role="system", content="Is it?"),)),
        call_key(ENDPOINT, (ChatMessage(role="user", content="Is it not?"),)),
        call_key(ENDPOINT, ASKED, schema={"type": "object"}),
        call_key(ENDPOINT, ASKED, turn="vote 2"),
    ],
    ids=["model", "parameter", "role", "text", "schema", "turn"],
)
def test_what_a_reply_depends_on(key: str) -> None:
    assert key != KEY


def test_a_lone_surrogate_has_a_key() -> None:
    assert call_key(ENDPOINT, (ChatMessage(role="user", content="\udc80"),)) != KEY


def test_usage_adds_up() -> None:
    numbers = {each.name: number for number, each in enumerate(fields(Usage), start=1)}
    doubled = {name: 2 * number for name, number in numbers.items()}
    assert Usage(**numbers) + Usage(**numbers) == Usage(**doubled)
