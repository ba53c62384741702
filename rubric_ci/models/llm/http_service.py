"""An HTTP service that answers the cases: one request each, the answer from its reply."""

import json
from collections.abc import Mapping
from typing import Any

from rubric_ci.model.config import Endpoint, HttpRequest
from rubric_ci.model.json_value import JSON, Missing, value_at
from rubric_ci.model.llm_calls import ModelCall, ModelReply
from rubric_ci.model.usage import Usage
from rubric_ci.models.llm import direct_http
from rubric_ci.models.llm.retry import RequestError
from rubric_ci.text import numbers

_NAMED = 10  # keys of a reply in a message


async def ask(call: ModelCall) -> ModelReply:
    """Send the body, which is the message of the call, and return the answer of the reply."""
    endpoint = call.endpoint
    assert endpoint.http is not None  # noqa: S101 - only such endpoints come here
    body = call.messages[0].content.encode() if endpoint.http.body is not None else None
    data = await direct_http.send(
        endpoint.http.method, server_of(endpoint)[0], _headers(endpoint, endpoint.http), body
    )
    return ModelReply(text=_answer(data, endpoint.http.answer), usage=Usage(calls=1))


def server_of(endpoint: Endpoint) -> tuple[str, str]:
    """Return the URL; the credential is in the headers."""
    return str(endpoint.options["api_base"]), ""


async def look_up(_: Endpoint) -> Mapping[str, JSON]:
    """Return an empty entry: a service has none, and is not asked before the first case."""
    return {}


def _headers(endpoint: Endpoint, http: HttpRequest) -> Mapping[str, str]:
    given: dict[str, Any] = endpoint.options.get("headers", {})
    kind = "text/plain; charset=utf-8" if isinstance(http.body, str) else "application/json"
    own = {} if http.body is None else {"Content-Type": kind}
    named = {name.lower() for name in given}
    return {**{n: v for n, v in own.items() if n.lower() not in named}, **given}


def _answer(data: bytes, field: str) -> str:
    """Return the answer; a text as it is, another value as JSON."""
    try:
        text = data.decode()
        value: Any = json.loads(text) if field else text
    except (ValueError, RecursionError) as error:
        kind = "JSON" if field else "UTF-8"
        raise RequestError(f"the reply is not {kind}: {error}", retryable=False) from error
    found = value_at(value, field) if field else value
    if isinstance(found, Missing):
        keys = f", only {numbers.listed(list(value), _NAMED)}" if isinstance(value, dict) else ""
        raise RequestError(
            f"the reply has no `{field}`{keys}; check `answer` of the target", retryable=False
        )
    return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
