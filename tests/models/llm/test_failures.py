"""Errors in replies of status 200, as gateways of OpenAI's format send them."""

import asyncio
import json
from collections.abc import Mapping

import pytest

from rubric_ci.models.llm.client import request
from rubric_ci.models.llm.failures import (
    RequestError,
    error_message,
    find_error,
    find_object,
    status_of,
)
from rubric_ci.values.json_value import JSON
from tests.aimock import Aimock
from tests.bodies import Body, answering
from tests.cases import build_call

ERRORS: dict[str, tuple[Mapping[str, JSON], int | None, bool, str]] = {
    # body: (its status, whether another request may succeed, what it says)
    "a status as its code": ({"error": {"message": "busy", "code": 429}}, 429, True, "busy"),
    "a status in words": ({"error": {"message": "busy", "code": "503"}}, 503, True, "busy"),
    "OpenAI's words": (
        {"error": {"message": "wrong key", "type": "invalid_request_error", "code": "no_key"}},
        400,
        False,
        "wrong key",
    ),
    "the code says more than the type": (
        {"error": {"message": "no", "type": "invalid_request_error", "code": "invalid_api_key"}},
        401,
        False,
        "no",
    ),
    "Anthropic's words": (
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        529,
        True,
        "Overloaded",
    ),
    "Google's words": ({"error": {"message": "no", "status": "UNAVAILABLE"}}, 503, True, "no"),
    "vLLM's": ({"object": "error", "message": "too long", "code": 400}, 400, False, "too long"),
    "nothing that is known": ({"error": {"message": "hm", "code": 17}}, None, True, "hm"),
    "a word alone": ({"error": "model is\n loading"}, None, True, "model is loading"),
    "no message": ({"error": {"hint": [1]}}, None, True, '{"hint": [1]}'),
}


@pytest.mark.parametrize(("body", "status", "retryable", "said"), ERRORS.values(), ids=ERRORS)
def test_an_error_is_understood(
    body: Mapping[str, JSON], status: int | None, retryable: bool, said: str
) -> None:
    trouble = find_error(body)
    assert trouble is not None
    assert (trouble.status, trouble.retryable, trouble.billed) == (status, retryable, False)
    assert str(trouble) == f"the reply is an error: {said}"


@pytest.mark.parametrize(
    "body",
    [{}, {"error": None}, {"error": ""}, {"error": {}}, {"choices": []}, "error", None, 7],
    ids=["empty", "null", "no words", "no facts", "no choices", "a word", "nothing", "a number"],
)
def test_what_is_no_error(body: JSON) -> None:
    assert find_error(body) is None


def test_what_was_given_up_may_be_billed() -> None:
    trouble = find_error({"error": {"message": "slow", "code": "deadline_exceeded"}})
    assert trouble is not None
    assert (trouble.status, trouble.billed) == (504, True)


@pytest.mark.parametrize(
    ("word", "status"),
    [(404, 404), ("404", 404), (200, None), (600, None), (True, None), (None, None), ("²", None)],
    ids=repr,
)
def test_status_of(word: JSON, status: int | None) -> None:
    assert status_of(word) == status


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('X - {"error": {"code": 1}}', {"error": {"code": 1}}),
        ("Got={'error': None}. File an issue", {"error": None}),
        ("nothing", None),
        ("{broken", None),
        ("{1, 2}", None),
        ("{" * 9999 + "}" * 9999, None),
    ],
    ids=["JSON", "Python", "none", "broken", "a set", "deep"],
)
def test_object_within(text: str, found: object) -> None:
    assert find_object(text) == found


def test_what_is_said_is_one_line_of_bearable_length() -> None:
    assert len(error_message({"error": {"message": "word \n" * 500}})) == 500


@pytest.mark.parametrize("wire", ["openai", "openai-litellm", "anthropic", "gemini"])
@pytest.mark.parametrize(
    ("error", "retryable"),
    [
        ({"message": "scripted", "code": 429}, True),
        ({"message": "scripted", "code": "invalid_api_key"}, False),
        ({"message": "scripted"}, True),
    ],
    ids=["busy", "wrong key", "who knows"],
)
def test_over_the_wire(error: Mapping[str, JSON], retryable: bool, wire: str) -> None:
    name, _, by_litellm = wire.partition("-")
    with answering(Body(content=json.dumps({"error": error}).encode())) as server:
        endpoint = Aimock(server.url).endpoint(name, **({"n": 1} if by_litellm else {}))
        with pytest.raises(RequestError, match="scripted") as ended:
            asyncio.run(request(build_call(endpoint=endpoint)))
    assert ended.value.retryable is retryable


def test_a_choice_may_be_an_error() -> None:
    message = {"role": "assistant", "content": ""}
    error = {"code": 502, "message": "Provider returned error"}
    choice = {"index": 0, "finish_reason": "error", "error": error, "message": message}
    with answering(Body(content=json.dumps({"choices": [choice]}).encode())) as server:
        call = build_call(endpoint=Aimock(server.url).endpoint("openai"))
        with pytest.raises(RequestError, match="Provider returned error") as ended:
            asyncio.run(request(call))
    assert (ended.value.status, ended.value.retryable) == (502, True)
