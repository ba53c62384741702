"""One request to a server that speaks OpenAI's chat format, without litellm; effects.

litellm takes three seconds of processor time and 140 MB to load, and several milliseconds for
each call; docs/performance.md has the figures. It remains the way to every other provider, and to
whatever is asked for here that this module does not know.
"""

import json
import os
from collections.abc import AsyncGenerator, Mapping
from email.utils import parsedate_to_datetime
from ssl import SSLContext, create_default_context
from time import time
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from rubric_ci.errors import MissingExtra
from rubric_ci.llm.error_body import error_message
from rubric_ci.llm.retry import RequestError
from rubric_ci.model.config import Endpoint
from rubric_ci.model.evals import JSON

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

    from aiohttp import ClientResponse, ClientSession

    _Opened = tuple[AsyncGenerator[ClientSession, None], ClientSession]

PREFIX = "openai/"
DEFAULT_BASE = "https://api.openai.com/v1"
MOST_BODY = 8 * 2**20  # bytes, unpacked

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
# Where these are set, OpenAI's own client does more than is done here.
_STEERING = ("OPENAI_ORG_ID", "OPENAI_ORGANIZATION", "OPENAI_PROJECT_ID")


def supports(endpoint: Endpoint, facts: Mapping[str, JSON]) -> bool:
    """Tell whether a model can be asked from here; `facts` is what litellm's list says of it.

    Reasoning models and those without a chat mode want other parameters.
    """
    return (
        endpoint.model.startswith(PREFIX)
        and not endpoint.model.startswith(f"{PREFIX}responses/")
        and endpoint.options.keys() <= _UNDERSTOOD
        and facts.get("mode", "chat") == "chat"
        and not facts.get("supports_reasoning")
        and bool(facts or _base(endpoint) != DEFAULT_BASE)
        and bool(_key(endpoint))
        and not any(name in os.environ for name in _STEERING)
    )


def server_of(endpoint: Endpoint) -> tuple[str, str]:
    """Return where a model is asked, and the key for it."""
    return _base(endpoint), _key(endpoint)


async def post(endpoint: Endpoint, body: Mapping[str, JSON]) -> Mapping[str, JSON]:
    """Return the reply to a chat request; raises Trouble."""
    try:
        from aiohttp import ClientConnectorError, ClientError
    except ModuleNotFoundError as error:
        raise MissingExtra(
            "aiohttp is not installed; it is needed to ask a model",
            "pip install 'rubric-ci[judge]'",
        ) from error
    session = await _session()
    url = f"{_base(endpoint).rstrip('/')}/chat/completions"
    try:
        async with session.post(
            url, json=body, headers=headers_of(endpoint), allow_redirects=False
        ) as response:
            data = await _read(response)
    except (ClientError, OSError, ValueError) as error:
        sent = not isinstance(error, ClientConnectorError)
        said = str(error) or type(error).__name__
        raise RequestError(f"Connection error: {said}", billed=sent) from error
    if 300 <= response.status < 400:
        message = f"HTTP {response.status}: redirects are not followed; check `api_base`"
        raise RequestError(message, status=response.status, retryable=False)
    if response.status >= 400:
        raise _refused(response, data)
    return _object(data)


def parse_retry_after(value: str) -> float | None:
    """Return how long a Retry-After header asks to wait."""
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
    # As litellm does, which reads these for every request.
    from_outside = os.environ.get("OPENAI_BASE_URL") or os.environ.get("OPENAI_API_BASE")
    return str(given or from_outside or DEFAULT_BASE)


def _key(endpoint: Endpoint) -> str:
    return str(endpoint.options.get("api_key") or os.environ.get("OPENAI_API_KEY") or "")


def headers_of(endpoint: Endpoint) -> dict[str, str]:
    """Return who asks, and what else a server is to be told."""
    headers = {"Authorization": f"Bearer {_key(endpoint)}"}
    if organization := endpoint.options.get("organization"):
        headers["OpenAI-Organization"] = str(organization)
    return {**headers, **(endpoint.options.get("extra_headers") or {})}


async def _read(response: "ClientResponse") -> bytes:
    """Return the body as far as it is unpacked; raises Trouble for one that is too large."""
    data = bytearray()
    async for chunk in response.content.iter_chunked(64 * 1024):
        data += chunk
        if len(data) > MOST_BODY:
            message = f"the response has more than {MOST_BODY // 2**20} MiB"
            raise RequestError(message, retryable=False, billed=True)
    return bytes(data)


def _refused(response: "ClientResponse", data: bytes) -> RequestError:
    wait = response.headers.get("Retry-After")
    return RequestError(
        f"HTTP {response.status}: {_said(data) or response.reason}",
        status=response.status,
        retry_after=None if wait is None else parse_retry_after(wait),
    )


def _said(data: bytes) -> str:
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
        raise RequestError("broken reply: it is no JSON object", retryable=True)
    return value


_sessions: "WeakKeyDictionary[AbstractEventLoop, _Opened]" = WeakKeyDictionary()


async def _session() -> "ClientSession":
    """Return the session of the running loop, closed with the loop's own generators."""
    from asyncio import get_running_loop

    loop = get_running_loop()
    if loop not in _sessions:
        # asyncio.run closes it when it shuts the loop's generators down. Nothing in it waits, so
        # no other task comes in between.
        opening = _open()
        _sessions[loop] = (opening, await anext(opening))
    return _sessions[loop][1]


async def _open() -> "AsyncGenerator[ClientSession, None]":
    from asyncio import get_running_loop

    from aiohttp import ClientSession, ClientTimeout, TCPConnector

    unbounded = ClientTimeout(total=None)  # the caller bounds the whole call
    connector = TCPConnector(limit=0, ssl=_trusted())  # the window bounds the requests
    async with ClientSession(connector=connector, timeout=unbounded, trust_env=True) as session:
        try:
            yield session
        finally:
            _sessions.pop(get_running_loop(), None)


def _trusted() -> SSLContext:
    """Trust what the system trusts, and where it has no list, what certifi brings."""
    import certifi

    context = create_default_context()
    context.load_verify_locations(certifi.where())
    return context
