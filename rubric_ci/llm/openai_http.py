"""One request to a server of OpenAI's chat format, without litellm.

litellm takes three seconds of processor time and 140 MB to load, and several milliseconds for
each call; docs/performance.md has the figures. It is used for every other provider, and for models
with options that this module does not support.
"""

import json
import os
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from ssl import SSLContext, create_default_context
from time import time
from typing import TYPE_CHECKING
from urllib.parse import quote
from weakref import WeakKeyDictionary

from rubric_ci.errors import MissingExtra
from rubric_ci.llm.connection_errors import (
    FAILED,
    ConnectionFailure,
    connection_error,
    find_failure,
)
from rubric_ci.llm.error_body import error_message
from rubric_ci.llm.gateway_errors import gateway_error
from rubric_ci.llm.gateway_headers import GatewayFacts, gateway_facts
from rubric_ci.llm.http_guard import MAX_BODY, OFFERED, REDIRECTED, too_large
from rubric_ci.llm.retry import RequestError
from rubric_ci.model.config import Endpoint
from rubric_ci.model.json_value import JSON

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

    from aiohttp import ClientResponse, ClientSession

    _Opened = tuple[AsyncGenerator[ClientSession, None], ClientSession]

PREFIX = "openai/"
_RESPONSES = "responses/"  # litellm's name for models of OpenAI's Responses API
DEFAULT_BASE = "https://api.openai.com/v1"

SENT = frozenset(
    {"temperature", "top_p", "seed", "frequency_penalty", "presence_penalty", "stop", "user"}
)
_UNDERSTOOD = SENT | {
    "api_base",
    "api_key",
    "base_url",
    "extra_headers",
    "input_cost_per_token",
    "input_cost_per_token_batches",
    "max_tokens",
    "organization",
    "output_cost_per_token",
    "output_cost_per_token_batches",
}
# OpenAI's client uses these variables, and this module does not.
_UNSUPPORTED_VARIABLES = ("OPENAI_ORG_ID", "OPENAI_ORGANIZATION", "OPENAI_PROJECT_ID")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatReply:
    """The body of a reply, and what a gateway says of it."""

    body: Mapping[str, JSON]
    gateway: GatewayFacts


def supports(endpoint: Endpoint, info: Mapping[str, JSON]) -> bool:
    """Return True if this module can ask a model; `info` is its entry of litellm's model list.

    Reasoning models and models without a chat mode need other parameters.
    """
    return (
        endpoint.model.startswith(PREFIX)
        and not endpoint.model.startswith(PREFIX + _RESPONSES)
        and endpoint.options.keys() <= _UNDERSTOOD
        and info.get("mode", "chat") == "chat"
        and not info.get("supports_reasoning")
        and bool(info or _base(endpoint) != DEFAULT_BASE)
        and bool(_key(endpoint))
        and not any(name in os.environ for name in _UNSUPPORTED_VARIABLES)
    )


def has_entry(endpoint: Endpoint) -> bool:
    """Return True if the server of a model has an entry of it at a known place."""
    return (
        endpoint.model.startswith(PREFIX)
        and "custom_llm_provider" not in endpoint.options
        and bool(_key(endpoint))
        and not any(name in os.environ for name in _UNSUPPORTED_VARIABLES)
    )


def server_of(endpoint: Endpoint) -> tuple[str, str]:
    """Return the base URL of a model and its API key."""
    return _base(endpoint), _key(endpoint)


async def post(endpoint: Endpoint, body: Mapping[str, JSON]) -> ChatReply:
    """Send a chat request and return the reply; raises RequestError."""
    response, data = await _send(endpoint, "POST", "chat/completions", body)
    return ChatReply(body=_object(data), gateway=gateway_facts(response.headers))


async def look_up(endpoint: Endpoint) -> None:
    """Read the server's entry of a model, which costs nothing; raises RequestError."""
    name = quote(endpoint.model.removeprefix(PREFIX).removeprefix(_RESPONSES))
    await _send(endpoint, "GET", f"models/{name}")


async def _send(
    endpoint: Endpoint, method: str, path: str, body: Mapping[str, JSON] | None = None
) -> "tuple[ClientResponse, bytes]":
    try:
        from aiohttp import ClientError
    except ModuleNotFoundError as error:
        raise MissingExtra(
            "aiohttp is not installed; model requests need it",
            "pip install 'rubric-ci[judge]'",
        ) from error
    session = await _session()
    url = f"{_base(endpoint).rstrip('/')}/{path}"
    try:
        async with session.request(
            method, url, json=body, headers=headers_of(endpoint), allow_redirects=False
        ) as response:
            data = await _read(response)
    except (ClientError, OSError, ValueError) as error:
        failure = find_failure(error) or ConnectionFailure(message=FAILED, sent=True)
        raise connection_error(failure) from error
    if 300 <= response.status < 400:
        message = f"HTTP {response.status}: {REDIRECTED}"
        raise RequestError(message, status=response.status, retryable=False)
    if response.status >= 400:
        raise _http_error(response, data)
    return response, data


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds to wait by the headers of a reply; None without them."""
    value = headers.get("retry-after") or headers.get("llm_provider-retry-after")
    return _seconds(value) if value else None


def _seconds(value: str) -> float | None:
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time())
    except (ValueError, OverflowError):
        return None


def _base(endpoint: Endpoint) -> str:
    given = endpoint.options.get("api_base") or endpoint.options.get("base_url")
    # litellm reads these variables for every request as well.
    from_environment = os.environ.get("OPENAI_BASE_URL") or os.environ.get("OPENAI_API_BASE")
    return str(given or from_environment or DEFAULT_BASE)


def _key(endpoint: Endpoint) -> str:
    return str(endpoint.options.get("api_key") or os.environ.get("OPENAI_API_KEY") or "")


def headers_of(endpoint: Endpoint) -> dict[str, str]:
    """Return the request headers: credentials, organization, and those of `extra_headers`."""
    headers = {"Authorization": f"Bearer {_key(endpoint)}"}
    if organization := endpoint.options.get("organization"):
        headers["OpenAI-Organization"] = str(organization)
    return {**headers, **(endpoint.options.get("extra_headers") or {})}


async def _read(response: "ClientResponse") -> bytes:
    """Return the body; raise RequestError if it is too large."""
    data = bytearray()
    async for chunk in response.content.iter_chunked(64 * 1024):
        data += chunk
        if len(data) > MAX_BODY:
            raise RequestError(too_large(MAX_BODY), retryable=False, billed=True)
    return bytes(data)


def _http_error(response: "ClientResponse", data: bytes) -> RequestError:
    meant = gateway_error(_error_text(data) or response.reason or "")
    return RequestError(
        f"HTTP {response.status}: {meant.message}",
        status=meant.status or response.status,
        retry_after=retry_after(response.headers),
    )


def _error_text(data: bytes) -> str:
    text = data.decode("utf-8", "replace")
    try:
        return error_message(json.loads(text))
    except (ValueError, RecursionError):
        return error_message(text)


def _object(data: bytes) -> Mapping[str, JSON]:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise RequestError(f"broken reply: {error}", retryable=True) from error
    if not isinstance(value, dict):
        raise RequestError("broken reply: not a JSON object", retryable=True)
    return value


_sessions: "WeakKeyDictionary[AbstractEventLoop, _Opened]" = WeakKeyDictionary()


async def _session() -> "ClientSession":
    """Return the session of the running loop."""
    from asyncio import get_running_loop

    loop = get_running_loop()
    if loop not in _sessions:
        # asyncio.run closes it with the loop's asynchronous generators. Opening it never waits, so
        # no other task runs in between.
        opening = _open()
        _sessions[loop] = (opening, await anext(opening))
    return _sessions[loop][1]


async def _open() -> "AsyncGenerator[ClientSession, None]":
    from asyncio import get_running_loop

    from aiohttp import ClientSession, ClientTimeout, TCPConnector

    unbounded = ClientTimeout(total=None)  # the caller has a timeout for the whole call
    connector = TCPConnector(limit=0, ssl=_trusted())  # the rate limiter limits the requests
    async with ClientSession(
        connector=connector,
        timeout=unbounded,
        trust_env=True,
        headers={"Accept-Encoding": OFFERED},
    ) as session:
        try:
            yield session
        finally:
            _sessions.pop(get_running_loop(), None)


def _trusted() -> SSLContext:
    """Return a context that trusts the certificates of the system and of certifi."""
    import certifi

    context = create_default_context()
    context.load_verify_locations(certifi.where())
    return context
