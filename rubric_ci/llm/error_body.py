"""What a server means by an error in the body of its reply, whatever the status of the reply.

Gateways in front of several providers answer 200 and put what went wrong behind them into it.
"""

import ast
import json
from collections.abc import Mapping

from rubric_ci.llm.retry import RequestError
from rubric_ci.model.evals import JSON
from rubric_ci.system.masking import redact

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
"""The words of OpenAI, Anthropic and Google, and the statuses that usually come with them."""

MOST = 500  # characters of what a server says


def error_in(body: JSON) -> RequestError | None:
    """Return the error that a reply holds instead of an answer, if it does."""
    if not isinstance(body, Mapping):
        return None
    if body.get("object") == "error":
        return _trouble(body)
    match body.get("error"):
        case str(said) if said.strip():
            return _trouble({"message": said})
        case Mapping() as error if error:
            return _trouble(error)
        case _:
            return None


def object_within(text: str) -> Mapping[str, JSON] | None:
    """Return the object that stands somewhere in a text, as JSON or as Python shows it."""
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
    """Return the HTTP status that a code, type or status of an error stands for."""
    if isinstance(word, str) and not word.isdecimal():
        return _STATUS.get(word.lower())
    if isinstance(word, bool) or not isinstance(word, int | str):
        return None
    return int(word) if 400 <= int(word) <= 599 else None


def error_message(body: JSON) -> str:
    """Return what an error says, on one line; a key that it echoes is replaced before the cut."""
    match body:
        case {"error": {"message": str(said)}} | {"message": str(said)} | {"error": str(said)}:
            pass
        case str(said):
            pass
        case _:
            said = json.dumps(body, ensure_ascii=False)
    return " ".join(redact(said).split())[:MOST]


def _trouble(error: Mapping[str, JSON]) -> RequestError:
    words = (error.get("code"), error.get("status"), error.get("type"))
    status = next((found for word in words if (found := status_of(word))), None)
    # Nothing was made, unless it was given up while it was being made.
    return RequestError(
        f"the reply is an error: {error_message(error)}",
        status=status,
        billed=None if status else False,
    )
