"""Refuse hosts, redirects and unbounded replies to the libraries that litellm sends with.

litellm and OpenAI's client send with httpx, one provider of litellm with aiohttp alone, the logins
to AWS and Google with urllib3. No library for gRPC or websockets is installed with us. None has an
option for all of its clients. httpx removes only the Authorization header where a redirect leads to
another host; `x-api-key` and the like of other providers would go with it. It unpacks each piece of
a reply whole, through every encoding that the reply names: a few kilobytes become gigabytes before
they can be counted. The body of an error is cut: litellm compares its text with every message that
it knows, which takes minutes for megabytes.
"""

import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from rubric_ci.models.llm.request_hosts import check

if TYPE_CHECKING:
    from aiohttp import ClientSession
    from httpx import AsyncClient, Client, Request, Response
    from urllib3 import HTTPConnectionPool

MAX_BODY: Final = 8 * 2**20  # bytes of a reply, unpacked
MAX_ERROR: Final = 64 * 2**10  # bytes of the reply of an error; the rest is not read
MAX_FILE: Final = 256 * 2**20  # bytes of the replies of a batch
OFFERED: Final = "gzip, deflate"  # as `Accept-Encoding`; zlib unpacks both up to a limit
REDIRECTED: Final = "redirects are not followed; check `api_base`"


class RefusedReply(Exception):
    """A reply that is not read."""


def guard(client: "type[AsyncClient]", blocking_client: "type[Client]") -> None:
    """Replace `send` of both kinds of clients by one that refuses."""
    # httpx has no hook that may refuse a reply before it is read
    client.send = _guarded(client.send)  # type: ignore[method-assign]
    blocking_client.send = _guarded_blocking(blocking_client.send)  # type: ignore[method-assign]


def guard_logins(pool: "type[HTTPConnectionPool]") -> None:
    """Let urllib3, with which boto3 and google-auth log in, ask allowed hosts only."""
    send: Any = pool.urlopen

    def guarded(self: "HTTPConnectionPool", method: str, url: str, *rest: Any, **extra: Any) -> Any:
        check(url if "://" in url else f"{self.scheme}://{self.host}:{self.port or ''}")
        return send(self, method, url, *rest, **extra)

    pool.urlopen = guarded  # type: ignore[method-assign]


def guard_sessions(session: "type[ClientSession]") -> None:
    """Let aiohttp ask allowed hosts only, and follow no redirect."""
    send: Any = session._request

    async def guarded(self: "ClientSession", method: str, url: Any, **extra: Any) -> Any:
        check(str(self._build_url(url)))
        return await send(self, method, url, **{**extra, "allow_redirects": False})

    session._request = guarded  # type: ignore[method-assign,assignment]


def too_large(limit: int) -> str:
    """Return the message for a reply of more bytes than the limit."""
    return f"the response has more than {limit // 2**20} MiB"


def _guarded(send: Any) -> Any:
    async def guarded(
        self: "AsyncClient", request: "Request", *, stream: bool = False, **extra: Any
    ) -> "Response":
        check(str(request.url))
        request.headers["accept-encoding"] = OFFERED
        response: Response = await send(
            self, request, **extra | {"stream": True, "follow_redirects": False}
        )
        if stream and response.is_success:
            return response
        try:
            _refuse_redirect(response)
            body, unpack = bytearray(), _unpacker(response)
            async for chunk in response.aiter_raw():
                if _is_enough(body, unpack, chunk, response):
                    break
        finally:
            await response.aclose()
        return _read(response, body)

    return guarded


def _guarded_blocking(send: Any) -> Any:
    def guarded(
        self: "Client", request: "Request", *, stream: bool = False, **extra: Any
    ) -> "Response":
        check(str(request.url))
        request.headers["accept-encoding"] = OFFERED
        response: Response = send(
            self, request, **extra | {"stream": True, "follow_redirects": False}
        )
        if stream and response.is_success:
            return response
        try:
            _refuse_redirect(response)
            body, unpack = bytearray(), _unpacker(response)
            for chunk in response.iter_raw():
                if _is_enough(body, unpack, chunk, response):
                    break
        finally:
            response.close()
        return _read(response, body)

    return guarded


def _refuse_redirect(response: "Response") -> None:
    if response.is_redirect:
        raise RefusedReply(f"HTTP {response.status_code}: {REDIRECTED}")


def _unpacker(response: "Response") -> Callable[[bytes, int], bytes]:
    """Return a decompressor with a size limit."""
    match encoding := response.headers.get("content-encoding", "identity").strip().lower():
        case "identity" | "":
            return lambda chunk, _: chunk
        case "gzip" | "x-gzip":
            return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress
        case "deflate":
            return _deflated()
        case _:
            raise RefusedReply(f"the response has the encoding `{encoding}`, which is not offered")


def _deflated() -> Callable[[bytes, int], bytes]:
    """Return a decompressor of `deflate`, which some servers send without the header of zlib."""
    unpack = zlib.decompressobj()
    started = False

    def inflate(chunk: bytes, most: int) -> bytes:
        nonlocal unpack, started
        if chunk and not started:
            started = True
            if chunk[0] & 15 != zlib.DEFLATED:
                unpack = zlib.decompressobj(-zlib.MAX_WBITS)
        return unpack.decompress(chunk, most)

    return inflate


def _is_enough(
    body: bytearray, unpack: Callable[[bytes, int], bytes], chunk: bytes, response: "Response"
) -> bool:
    """Append a piece of the body; return True if the rest is not needed."""
    most = MAX_ERROR if response.is_error else MAX_BODY
    try:
        body += unpack(chunk, most - len(body) + 1)
    except zlib.error as error:
        from httpx import DecodingError

        raise DecodingError(str(error), request=response.request) from error
    if len(body) <= most:
        return False
    if not response.is_error:
        raise RefusedReply(too_large(most))
    del body[most:]
    return True


def _read(response: "Response", body: bytearray) -> "Response":
    """Return the response with its unpacked body."""
    from httpx import Response

    packed = {"content-encoding", "content-length", "transfer-encoding"}
    read = Response(
        response.status_code,
        headers=[pair for pair in response.headers.multi_items() if pair[0] not in packed],
        content=bytes(body),
        request=response.request,
        extensions=response.extensions,
    )
    read.elapsed = response.elapsed
    return read
