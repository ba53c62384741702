"""An HTTP service that answers the cases: one request each, the answer from its reply."""

from collections.abc import Mapping
from typing import Any

from rubric_ci.models.llm import direct_http, service_reply
from rubric_ci.values.config import Endpoint, HttpRequest
from rubric_ci.values.json_value import JSON
from rubric_ci.values.llm_calls import ModelCall, ModelReply


async def ask(call: ModelCall) -> ModelReply:
    """Send the body, which is the message of the call, and return the answer of the reply."""
    endpoint = call.endpoint
    assert endpoint.http is not None  # noqa: S101 - only such endpoints come here
    body = call.messages[0].content.encode() if endpoint.http.body is not None else None
    data = await direct_http.send(
        endpoint.http.method,
        server_of(endpoint)[0],
        _headers(endpoint, endpoint.http),
        body,
        through_proxy=not endpoint.http.is_started,
    )
    return service_reply.read(data, endpoint.http)


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
