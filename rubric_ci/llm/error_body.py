"""Error objects in the body of a reply, whatever its HTTP status.

Gateways in front of several providers answer with status 200 and an error object.
"""

import ast
import json
from collections.abc import Mapping

from rubric_ci.llm.retry import RequestError
from rubric_ci.model.json_value import JSON
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
"""Error types of OpenAI, Anthropic and Google, and their usual HTTP statuses."""

MESSAGE_LIMIT = 500  # characters


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
