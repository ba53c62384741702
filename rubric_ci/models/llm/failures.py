"""Failed requests: which are repeated, and the messages of error objects and broken connections.

Gateways in front of several providers answer with status 200 and an error object. litellm sends
through httpx, and httpx through aiohttp, so the same failure has the same message whichever way a
request goes. Classes of errors are found by name, because this module imports no library.
"""

import ast
import asyncio
import json
import os
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from email.utils import parsedate_to_datetime
from time import time
from typing import Any

from rubric_ci.errors import CannotReachModel, FailureScope, OverBudget
from rubric_ci.system.backoff import Backoff
from rubric_ci.system.output_and_masking import redact
from rubric_ci.text.numbers import plural
from rubric_ci.values.json_value import JSON
from rubric_ci.values.llm_calls import ModelCall, ModelCaller, ModelReply
from rubric_ci.values.usage import NOTHING_USED, Usage

RETRYABLE_STATUS = frozenset({408, 409, 429})  # and every 5xx
ACCOUNT_STATUS = frozenset({401, 402, 403, 404})  # the key or the model is refused
TIMEOUT_STATUS = frozenset({408, 504, 524})  # the reply may have been generated, and billed

BACKOFF = Backoff()

_OUT_OF_QUOTA = re.compile(
    r"quota is used up|exceeded your current quota|billing_hard_limit|credit balance is too low"
    r"|crossed budget|budget has been exceeded",
    re.IGNORECASE,
)
_REFUSED_ACCOUNT = re.compile(
    r"api key not valid|api key expired|incorrect api key|model not exist|invalid model[:'`\"]"
    r"|invalid model '|is not a valid model|model identifier is invalid"
    r"|invalid model name passed|gateway refuses the api key",
    re.IGNORECASE,
)
"""Errors with status 400 of Google, xAI, DeepSeek, Mistral, OpenRouter, Perplexity, Bedrock, and
LiteLLM's proxy."""


class RequestError(Exception):
    """One request failed: `retryable` if another may succeed, `billed` if this one may cost.

    A server that refuses a request does not bill it. Without a complete reply, it may have.
    A quota that is used up is never retryable.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        retryable: bool | None = None,
        billed: bool | None = None,
        retry_after: float | None = None,
        reached: bool = True,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.out_of_quota = bool(_OUT_OF_QUOTA.search(message))
        if retryable is None:
            retryable = status is None or status in RETRYABLE_STATUS or status >= 500
        self.retryable = retryable and not self.out_of_quota
        self.billed = status is None or status in TIMEOUT_STATUS if billed is None else billed
        self.retry_after = retry_after
        self.reached = reached  # False: nothing was sent, for want of a connection or a key

    @property
    def scope(self) -> FailureScope:
        """The part that failed: this request, the whole account, the connection, or the server."""
        refused = self.status == 400 and _REFUSED_ACCOUNT.search(str(self))
        if self.out_of_quota or self.status in ACCOUNT_STATUS or refused:
            return "account"
        if not self.reached:
            return "host" if self.retryable else "account"
        return "server" if self.retryable else "request"

    @property
    def usage(self) -> Usage:
        """The request, if it reached the server."""
        return Usage(calls=int(self.reached), unpriced_calls=int(self.billed))

    def wait_after(self, attempt: int, backoff: Backoff) -> float | None:
        """Return the seconds to wait before the next attempt; None if there is none."""
        return backoff.wait_after(attempt, self.retry_after) if self.retryable else None


def with_retries(
    request: ModelCaller,
    *,
    backoff: Backoff = BACKOFF,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> ModelCaller:
    """Return a caller that retries a request that raises RequestError; raises CannotReachModel."""

    async def ask(call: ModelCall) -> ModelReply:
        used, previous = NOTHING_USED, ""
        for attempt in range(1, backoff.attempts + 1):
            try:
                reply = await request(call)
            except RequestError as error:
                used += error.usage
                previous = str(error)
                wait = error.wait_after(attempt, backoff)
                if wait is None:
                    reason = _reason(call, error, used.calls, attempt, backoff)
                    raise CannotReachModel(reason, used, scope=error.scope) from error
            except OverBudget as error:  # the requests before it count all the same
                raise OverBudget(error.cap, used + error.usage, before=previous) from error
            else:
                return reply if used is NOTHING_USED else replace(reply, usage=used + reply.usage)
            await sleep(wait)
        raise AssertionError("unreachable: the last attempt returns or raises")

    return ask


def _reason(
    call: ModelCall, error: RequestError, sent: int, attempts: int, backoff: Backoff
) -> str:
    """Return the error with the number of requests; of attempts, where none was sent."""
    too_long = backoff.is_too_long(error.retry_after)
    facts = [
        plural(sent, "request") if sent else "",
        f"{attempts} attempts" if attempts > max(sent, 1) else "",
        f"the server asks to wait {error.retry_after:g} s" if too_long else "",
    ]
    known = "; ".join(filter(None, facts))
    return f"{call.endpoint.model}: {error}" + (f" ({known})" if known else "")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds to wait by the headers of a reply; None without them."""
    value = headers.get("retry-after") or headers.get("llm_provider-retry-after")
    for seconds in (float, lambda date: parsedate_to_datetime(date).timestamp() - time()):
        with suppress(ValueError, OverflowError):
            return max(0.0, seconds(value)) if value else None
    return None


_STATUS: Mapping[str, int] = {
    word: status
    for status, words in {
        400: "context_length_exceeded invalid_argument invalid_request_error",
        401: "authentication_error invalid_api_key unauthenticated",
        402: "billing_error",
        403: "permission_denied permission_error",
        404: "model_not_found not_found not_found_error",
        413: "request_too_large",
        429: "insufficient_quota rate_limit_error rate_limit_exceeded resource_exhausted",
        500: "api_error internal server_error",
        503: "unavailable",
        504: "deadline_exceeded timeout_error",
        529: "overloaded_error",
    }.items()
    for word in words.split()
}
"""Error types of OpenAI, Anthropic and Google, and their usual HTTP statuses."""

MESSAGE_LIMIT = 500  # characters

FAILED = "the connection failed"


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
    error = body.get("error", body) if isinstance(body, Mapping) else None
    words = [error.get("code"), error.get("type")] if isinstance(error, Mapping) else []
    quota = "; the quota is used up" if "insufficient_quota" in words else ""
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


def _request_error(error: Mapping[str, JSON]) -> RequestError:
    words = (error.get("code"), error.get("status"), error.get("type"))
    status = next((found for word in words if (found := status_of(word))), None)
    # No reply was generated, except where the error is a timeout.
    return RequestError(
        f"the reply is an error: {error_message(error)}",
        status=status,
        billed=None if status else False,
    )


def find_failure(error: BaseException) -> RequestError | None:
    """Return the failure of a connection among an error and its causes; None: there is none."""
    found = list(causes(error))
    for name, message, sent in _BY_CLASS:
        for cause in found:
            if any(kind.__name__ == name for kind in type(cause).__mro__):
                text = message.format(cause, why=_WHY.get(name, _system_reason)(cause))
                final = message in {_NO_URL, _UNTRUSTED}
                return RequestError(text, retryable=not final, billed=sent, reached=sent)
    return None


def causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and what caused it, the last cause last."""
    cause: BaseException | None = error
    while cause:
        yield cause
        cause = cause.__cause__ or cause.__context__


def _system_reason(error: Any) -> str:
    number = getattr(error, "errno", None)
    return os.strerror(number) if isinstance(number, int) and number > 0 else "no reason given"


def _tls_reason(error: Any) -> str:
    reason: str = getattr(error.os_error, "reason", None) or "no reason"
    return reason.lower().replace("_", " ")


_WHY: Mapping[str, Callable[[Any], str]] = {
    "ClientConnectorCertificateError": lambda error: (
        getattr(error.certificate_error, "verify_message", "") or "it is invalid"
    ),
    "ClientConnectorSSLError": _tls_reason,
}
_NO_URL = "`api_base` is not a URL; write it as `https://host/v1`"
_CLOSED = "the server closed the connection without a reply"
_CUT = "the connection ended within the reply"
_PACKED = "the reply cannot be decompressed"
_PLACE = "cannot connect to {0.host}:{0.port}"
_PROXY = "check HTTP_PROXY, HTTPS_PROXY"
_UNTRUSTED = (
    f"{_PLACE}: the TLS certificate is not trusted ({{why}}); "
    "check `api_base`, or set SSL_CERT_FILE to the certificate of the issuer"
)
_NO_TLS = f"{_PLACE}: the TLS handshake failed ({{why}}); check `http` or `https` in `api_base`"
_UNRESOLVED = "cannot connect: DNS does not know the host {0.host}; check `api_base`"
_REFUSED = f"the HTTP proxy refuses the connection: HTTP {{0.status}}; {_PROXY}"

_BY_CLASS: tuple[tuple[str, str, bool], ...] = (
    # The first class that is found counts: subclasses first, aiohttp's before httpx's.
    ("InvalidURL", _NO_URL, False),
    ("NonHttpUrlClientError", _NO_URL, False),
    ("UnsupportedProtocol", _NO_URL, False),
    ("ClientConnectorDNSError", _UNRESOLVED, False),
    ("ClientConnectorCertificateError", _UNTRUSTED, False),
    ("ClientConnectorSSLError", _NO_TLS, False),
    ("ClientProxyConnectionError", f"cannot connect to the HTTP proxy: {{why}}; {_PROXY}", False),
    ("ClientHttpProxyError", _REFUSED, False),
    ("ClientConnectorError", f"{_PLACE}: {{why}}", False),
    ("ServerDisconnectedError", _CLOSED, True),
    ("ContentEncodingError", _PACKED, True),
    ("DecodingError", _PACKED, True),
    ("PayloadEncodingError", _CUT, True),
    ("ClientPayloadError", _CUT, True),
    ("HttpProcessingError", "the reply is not HTTP; check `api_base`", True),
    ("ClientOSError", f"{FAILED}: {{why}}", True),
    ("ConnectTimeout", "cannot connect: no reply in time", False),
    ("ConnectError", "cannot connect to the server; check `api_base`", False),
    ("RemoteProtocolError", _CLOSED, True),
    ("ReadError", _CLOSED, True),
    ("WriteError", "the connection failed while sending", True),
    ("ClientConnectionError", FAILED, True),
)
"""Classes of aiohttp and httpx, their messages, and whether the request may have been received."""
