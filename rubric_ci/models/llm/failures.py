"""Failures of model servers as messages: error objects in replies, and broken connections.

Gateways in front of several providers answer with status 200 and an error object. litellm sends
through httpx, and httpx through aiohttp, so the same failure has the same message whichever way a
request goes. Classes of errors are found by name, because this module imports no library.
"""

import ast
import json
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from rubric_ci.models.llm.retry import RequestError
from rubric_ci.system.masking import redact
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.json_value import JSON

_STATUS: Mapping[str, int] = {
    "api_error": 500,
    "authentication_error": 401,
    "billing_error": 402,
    "context_length_exceeded": 400,
    "deadline_exceeded": 504,
    "insufficient_quota": 429,
    "internal": 500,
    "invalid_api_key": 401,
    "invalid_argument": 400,
    "invalid_request_error": 400,
    "model_not_found": 404,
    "not_found": 404,
    "not_found_error": 404,
    "overloaded_error": 529,
    "permission_denied": 403,
    "permission_error": 403,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "request_too_large": 413,
    "resource_exhausted": 429,
    "server_error": 500,
    "timeout_error": 504,
    "unauthenticated": 401,
    "unavailable": 503,
}
"""Error types of OpenAI, Anthropic and Google, and their usual HTTP statuses."""

MESSAGE_LIMIT = 500  # characters

FAILED = "the connection failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionFailure:
    """The failure; `sent` is True if the server may have received the request."""

    message: str
    sent: bool
    retryable: bool = True


def find_error(body: JSON) -> RequestError | None:
    """Return the error that a reply holds instead of an answer; None if it holds none."""
    if not isinstance(body, Mapping):
        return None
    if body.get("object") == "error":
        return _request_error(body)
    match body.get("error"):
        case str(message) if message.strip():
            return _request_error({"message": message})
        case Mapping() as error if error:
            return _request_error(error)
        case _:
            return None


def find_object(text: str) -> Mapping[str, JSON] | None:
    """Return the first object in a text, written as JSON or as a Python literal."""
    start, end = text.find("{"), text.rfind("}")
    for read in (json.loads, ast.literal_eval):
        try:
            value = read(text[start : end + 1])
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(value, dict):
            return value
    return None


def status_of(word: JSON) -> int | None:
    """Return the HTTP status of an error's code, type or status; None if it is unknown."""
    if isinstance(word, str) and not word.isdecimal():
        return _STATUS.get(word.lower())
    if isinstance(word, bool) or not isinstance(word, int | str):
        return None
    return int(word) if 400 <= int(word) <= 599 else None


def error_message(body: JSON) -> str:
    """Return the message of an error, on one line; secrets are replaced before it is cut."""
    quota = "; the quota is used up" if _names_quota(body) else ""
    match body:
        case (
            {"error": {"message": str(message)}}
            | {"message": str(message)}
            | {"error": str(message)}
        ):
            pass
        case str(message):
            pass
        case _:
            message = json.dumps(body, ensure_ascii=False)
    return " ".join(redact(message).split())[:MESSAGE_LIMIT] + quota


def _names_quota(body: JSON) -> bool:
    error = body.get("error", body) if isinstance(body, Mapping) else None
    words = [error.get("code"), error.get("type")] if isinstance(error, Mapping) else []
    return "insufficient_quota" in words


def _request_error(error: Mapping[str, JSON]) -> RequestError:
    words = (error.get("code"), error.get("status"), error.get("type"))
    status = next((found for word in words if (found := status_of(word))), None)
    # No reply was generated, except where the error is a timeout.
    return RequestError(
        f"the reply is an error: {error_message(error)}",
        status=status,
        billed=None if status else False,
    )


def find_failure(error: BaseException) -> ConnectionFailure | None:
    """Return the failure of a connection among an error and its causes; None: there is none."""
    found = list(causes(error))
    for name, describe in _BY_CLASS:
        for cause in found:
            if any(kind.__name__ == name for kind in type(cause).__mro__):
                return describe(cause)
    return None


def connection_error(failure: ConnectionFailure) -> RequestError:
    """Return the request error of a failure."""
    return RequestError(
        failure.message, retryable=failure.retryable, billed=failure.sent, reached=failure.sent
    )


def causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and what caused it, the last cause last."""
    cause: BaseException | None = error
    while cause:
        yield cause
        cause = cause.__cause__ or cause.__context__


def _unresolved(error: Any) -> ConnectionFailure:
    message = f"cannot connect: DNS does not know the host {error.host}; check `api_base`"
    return ConnectionFailure(message=message, sent=False)


def _untrusted(error: Any) -> ConnectionFailure:
    why = getattr(error.certificate_error, "verify_message", "") or "it is invalid"
    message = (
        f"cannot connect to {error.host}:{error.port}: the TLS certificate is not trusted ({why}); "
        "check `api_base`, or set SSL_CERT_FILE to the certificate of the issuer"
    )
    return ConnectionFailure(message=message, sent=False, retryable=False)


def _no_tls(error: Any) -> ConnectionFailure:
    reason = getattr(error.os_error, "reason", None) or "no reason"
    message = (
        f"cannot connect to {error.host}:{error.port}: the TLS handshake failed "
        f"({reason.lower().replace('_', ' ')}); check `http` or `https` in `api_base`"
    )
    return ConnectionFailure(message=message, sent=False)


def _no_proxy(error: Any) -> ConnectionFailure:
    message = f"cannot connect to the HTTP proxy: {_reason(error)}; check HTTP_PROXY, HTTPS_PROXY"
    return ConnectionFailure(message=message, sent=False)


def _refused_by_proxy(error: Any) -> ConnectionFailure:
    message = f"the HTTP proxy refuses the connection: HTTP {error.status}"
    return ConnectionFailure(message=f"{message}; check HTTP_PROXY, HTTPS_PROXY", sent=False)


def _no_connection(error: Any) -> ConnectionFailure:
    message = f"cannot connect to {error.host}:{error.port}: {_reason(error)}"
    return ConnectionFailure(message=message, sent=False)


def _broken(error: Any) -> ConnectionFailure:
    return ConnectionFailure(message=f"{FAILED}: {_reason(error)}", sent=True)


def _reason(error: Any) -> str:
    number = getattr(error, "errno", None)
    return os.strerror(number) if isinstance(number, int) and number > 0 else "no reason given"


def _always(message: str, *, sent: bool, retryable: bool = True) -> Callable[[Any], Any]:
    return lambda _: ConnectionFailure(message=message, sent=sent, retryable=retryable)


_NO_URL = "`api_base` is not a URL; write it as `https://host/v1`"
_CLOSED = "the server closed the connection without a reply"
_CUT = "the connection ended within the reply"

_BY_CLASS: tuple[tuple[str, Callable[[Any], ConnectionFailure]], ...] = (
    # The first class that is found counts: subclasses first, aiohttp's before httpx's.
    ("InvalidURL", _always(_NO_URL, sent=False, retryable=False)),
    ("NonHttpUrlClientError", _always(_NO_URL, sent=False, retryable=False)),
    ("UnsupportedProtocol", _always(_NO_URL, sent=False, retryable=False)),
    ("ClientConnectorDNSError", _unresolved),
    ("ClientConnectorCertificateError", _untrusted),
    ("ClientConnectorSSLError", _no_tls),
    ("ClientProxyConnectionError", _no_proxy),
    ("ClientHttpProxyError", _refused_by_proxy),
    ("ClientConnectorError", _no_connection),
    ("ServerDisconnectedError", _always(_CLOSED, sent=True)),
    ("ContentEncodingError", _always("the reply cannot be decompressed", sent=True)),
    ("DecodingError", _always("the reply cannot be decompressed", sent=True)),
    ("PayloadEncodingError", _always(_CUT, sent=True)),
    ("ClientPayloadError", _always(_CUT, sent=True)),
    ("HttpProcessingError", _always("the reply is not HTTP; check `api_base`", sent=True)),
    ("ClientOSError", _broken),
    ("ConnectTimeout", _always("cannot connect: no reply in time", sent=False)),
    ("ConnectError", _always("cannot connect to the server; check `api_base`", sent=False)),
    ("RemoteProtocolError", _always(_CLOSED, sent=True)),
    ("ReadError", _always(_CLOSED, sent=True)),
    ("WriteError", _always("the connection failed while sending", sent=True)),
    ("ClientConnectionError", _always(FAILED, sent=True)),
)
"""Messages for classes of aiohttp and httpx."""
