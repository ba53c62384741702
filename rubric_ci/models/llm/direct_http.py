"""One HTTP request to a model server: address, session, limits, errors.

Providers' formats are elsewhere.
"""

import json
import os
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from functools import cache
from ssl import SSLContext, create_default_context
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from rubric_ci.models.llm.failures import (
    FAILED,
    RequestError,
    error_message,
    find_failure,
    retry_after,
)
from rubric_ci.models.llm.gateway import gateway_wording
from rubric_ci.models.llm.http_guard import (
    MAX_BODY,
    MAX_ERROR,
    OFFERED,
    REDIRECTED,
    RefusedHost,
    check,
    too_large,
)
from rubric_ci.values.json_value import JSON, parsed
from rubric_ci.values.targets import Endpoint

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

    from aiohttp import ClientResponse, ClientSession

    _Opened = tuple[AsyncGenerator[ClientSession, None], ClientSession]


CONNECTION: Final = frozenset(
    {
        *("api_base", "api_key", "base_url", "extra_headers", "max_tokens"),
        *("input_cost_per_token", "input_cost_per_token_batches"),
        *("output_cost_per_token", "output_cost_per_token_batches"),
    }
)
"""Options that every direct client reads, besides those that it sends."""


def is_chat_model(
    endpoint: Endpoint, info: Mapping[str, JSON], prefix: str, sent: Iterable[str]
) -> bool:
    """Return True for a provider's model for chats, with options that its client understands."""
    return (
        endpoint.model.startswith(prefix)
        and endpoint.options.keys() <= CONNECTION.union(sent)
        and info.get("mode", "chat") == "chat"
    )


def connection(
    endpoint: Endpoint, default: str, *, urls: Sequence[str], keys: Sequence[str]
) -> tuple[str, str]:
    """Return the base URL of a model and its API key, else the first set variable of each."""
    given = [endpoint.options.get(name) for name in ("api_base", "base_url")]
    base = next(filter(None, [*given, *map(os.environ.get, urls)]), default)
    key = next(filter(None, [endpoint.options.get("api_key"), *map(os.environ.get, keys)]), "")
    return str(base), str(key)


def required(key: str, *variables: str) -> str:
    """Return an API key; raise RequestError without one."""
    if key:
        return key
    raise RequestError(
        f"the API key is missing; set `api_key` of the model or the variable "
        f"{' or '.join(variables)}",
        retryable=False,
        billed=False,
        reached=False,
    )


async def get(url: str, headers: Mapping[str, str]) -> Mapping[str, JSON]:
    """Return the object at a URL; raises RequestError."""
    return _object((await send("GET", url, headers))[0])


async def post(
    url: str, headers: Mapping[str, str], body: Mapping[str, JSON], *, form: bool = False
) -> tuple[Mapping[str, JSON], Mapping[str, str]]:
    """Send an object, or a form with its fields, and return the object and headers of the reply.

    Raises RequestError.
    """
    sent: dict[str, Any] = {"data": body} if form else {"json": body}
    data, known = await send("POST", url, headers, **sent)
    return _object(data), known


async def upload(
    url: str, headers: Mapping[str, str], fields: Mapping[str, str], name: str, content: bytes
) -> Mapping[str, JSON]:
    """Send a form with a file, and return the object of the reply; raises RequestError."""
    from aiohttp import FormData

    form = FormData(fields)
    form.add_field("file", content, filename=name, content_type="application/octet-stream")
    return _object((await send("POST", url, headers, data=form))[0])


async def send(
    method: str,
    url: str,
    headers: Mapping[str, str],
    *,
    limit: int = MAX_BODY,
    through_proxy: bool = True,
    **body: Any,
) -> tuple[bytes, Mapping[str, str]]:
    """Send a body, `data` or `json`, and return the body and headers of the reply.

    `through_proxy`: where the environment names one. Raises RequestError.
    """
    from aiohttp import ClientError

    try:
        check(url)
    except RefusedHost as error:
        raise RequestError(str(error), retryable=False, billed=False, reached=False) from error
    session = await _session(through_proxy=through_proxy)
    if session.trust_env or not url.startswith("http:"):  # a proxy may have a certificate as well
        body["ssl"] = _trusted()
    try:
        async with session.request(
            method, url, headers=headers, allow_redirects=False, **body
        ) as response:
            data = await _read_body(response, limit)
    except (ClientError, OSError, ValueError) as error:
        raise (find_failure(error) or RequestError(FAILED)) from error
    if 300 <= response.status < 400:
        message = f"HTTP {response.status}: {REDIRECTED}"
        raise RequestError(message, status=response.status, retryable=False)
    if response.status >= 400:
        raise _http_error(response, data)
    return data, response.headers


def broken_format() -> RequestError:
    """Return the error for a reply that is an object of another format."""
    return RequestError("broken reply: not in the provider's format", retryable=True)


async def _read_body(response: "ClientResponse", limit: int) -> bytes:
    """Return the body, an error's cut; raise RequestError if another is too large."""
    data = bytearray()
    async for chunk in response.content.iter_chunked(MAX_ERROR):
        data += chunk
        if response.status >= 400 and len(data) >= MAX_ERROR:
            return bytes(data[:MAX_ERROR])
        if len(data) > limit:
            raise RequestError(too_large(limit), retryable=False, billed=True)
    return bytes(data)


def _http_error(response: "ClientResponse", data: bytes) -> RequestError:
    text = data.decode("utf-8", "replace")
    found = parsed(text)
    message = error_message(text if found is None else found)
    return RequestError(
        f"HTTP {response.status}: {gateway_wording(message or response.reason or '')}",
        status=response.status,
        retry_after=retry_after(response.headers),
    )


def _object(data: bytes) -> Mapping[str, JSON]:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise RequestError(f"broken reply: {error}", retryable=True) from error
    if not isinstance(value, dict):
        raise RequestError("broken reply: not a JSON object", retryable=True)
    return value


_sessions: "WeakKeyDictionary[AbstractEventLoop, dict[bool, _Opened]]" = WeakKeyDictionary()


async def _session(*, through_proxy: bool) -> "ClientSession":
    """Return the session of the running loop, with or without proxies."""
    from asyncio import get_running_loop

    opened = _sessions.setdefault(get_running_loop(), {})
    if through_proxy not in opened:
        # asyncio.run closes it with the loop's asynchronous generators. Opening it never waits, so
        # no other task runs in between.
        opening = _open(through_proxy=through_proxy)
        opened[through_proxy] = (opening, await anext(opening))
    return opened[through_proxy][1]


async def _open(*, through_proxy: bool) -> "AsyncGenerator[ClientSession, None]":
    from asyncio import get_running_loop

    from aiohttp import ClientSession, ClientTimeout, TCPConnector

    unbounded = ClientTimeout(total=None)  # the caller has a timeout for the whole call
    connector = TCPConnector(limit=0)  # the rate limiter limits the requests
    async with ClientSession(
        connector=connector,
        timeout=unbounded,
        trust_env=through_proxy and _says_something(),
        headers={"Accept-Encoding": OFFERED},
    ) as session:
        try:
            yield session
        finally:
            _sessions.get(get_running_loop(), {}).pop(through_proxy, None)


def _says_something() -> bool:
    """Return True if the environment has proxies or the home folder has logins.

    aiohttp looks for both in two threads for each request, which costs more than the request.
    """
    from urllib.request import getproxies

    logins = (os.environ.get("NETRC", ""), *map(os.path.expanduser, ("~/.netrc", "~/_netrc")))
    return bool(getproxies()) or any(map(os.path.exists, logins))


@cache  # it takes 40 ms, and a command may run several loops
def _trusted() -> SSLContext:
    """Return a context that trusts the certificates of the system and of certifi."""
    import certifi

    context = create_default_context()
    context.load_verify_locations(certifi.where())
    return context
