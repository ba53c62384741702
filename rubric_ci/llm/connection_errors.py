"""Failures of a connection as messages: the texts of aiohttp and httpx are for their developers.

litellm sends through httpx, and httpx through aiohttp, so the same failure has the same message
whichever way a request goes. Classes are found by name, because this module imports no library.
"""

import os
from collections.abc import Callable, Iterator
from typing import Any

from rubric_ci.llm.retry import RequestError
from rubric_ci.model.dataclass import dataclass

FAILED = "the connection failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionFailure:
    """The failure; `sent` is True if the server may have received the request."""

    message: str
    sent: bool
    retryable: bool = True


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
    # The first class that is found counts: subclasses first, aiohttp's before those of httpx.
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
