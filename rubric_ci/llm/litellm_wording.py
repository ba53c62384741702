"""Messages for errors of litellm, by exception class, with the reason that it gives."""

import re
from collections.abc import Mapping
from typing import Final

from rubric_ci.model.defaults import MODEL_JUDGE
from rubric_ci.system.masking import redact

BY_CLASS: Final[Mapping[str, str]] = {
    "APIConnectionError": "the connection to the provider failed",
    "AuthenticationError": "the provider refuses the API key",
    "BadGatewayError": "the provider's server failed",
    "BadRequestError": "the provider refuses the request",
    "ContentPolicyViolationError": "the provider's content filter refuses the request",
    "ContextWindowExceededError": "the input is too long for the model",
    "InternalServerError": "the provider's server failed",
    "NotFoundError": "the provider does not know the model",
    "PermissionDeniedError": "the API key has no access to the model",
    "RateLimitError": "the provider's rate limit is reached",
    "ServiceUnavailableError": "the provider's server is not available",
    "Timeout": "the provider does not reply in time",
    "UnprocessableEntityError": "the provider refuses the request",
}
_QUOTED = re.compile(
    r"\b\w+Exception - (?P<text>.*?)"
    r"(?: Traceback |\. Handle with `litellm\.| LiteLLM: model group |\n|$)"
)
_PREFIX = re.compile(r"litellm\.|Timeout: |\w+Error: |\w+Exception - |\w+Error - ")
_ADVICE = " To drop "  # what follows is about litellm's own settings
_VARIABLE = re.compile(r"\b[A-Z][A-Z0-9_]*_(?:API_KEY|KEY|TOKEN)\b")
_NO_KEY = re.compile(r"missing (credentials|\w+ api key)", re.IGNORECASE)
_PARAMETERS = re.compile(r"does not support parameters: \[(?P<names>[^\[\]]*)\]")
_PACKAGE = re.compile(r"No module named '(?P<name>[\w.]+)'")


def missing_setup(message: str) -> str:
    """Return what a request lacks, an API key or a package; empty: nothing."""
    if found := _PACKAGE.search(message):
        return f"this provider needs the Python package `{found['name']}`; install it"
    return _missing_key(message) if _NO_KEY.search(message) else ""


def wording(class_name: str, message: str, said: str = "") -> str:
    """Return the message for an error; `said` is what the provider says of it."""
    if found := _PARAMETERS.search(message):
        names = [name.strip(" '\"") for name in found["names"].split(",")]
        listed = ", ".join(f"`{name}`" for name in names)
        return f"the model does not support {listed}; remove it from the model's settings"
    if "LLM Provider NOT provided" in message:
        return f"the model has no provider; write `provider/model`, such as `{MODEL_JUDGE}`"
    text = BY_CLASS.get(class_name, "the request failed")
    reason = said or bare(message).partition(_ADVICE)[0].rstrip(". ")
    return f"{text}: {reason}" if reason else text


def bare(message: str) -> str:
    """Return a message without the names of classes that litellm puts before it."""
    at = 0
    while match := _PREFIX.match(message, at):
        at = match.end()
    return message[at:]


def provider_text(message: str) -> str:
    """Return what the provider says, where litellm quotes it; else ""."""
    found = _QUOTED.search(" ".join(redact(message).split()))
    return found["text"][:500] if found else ""


def _missing_key(message: str) -> str:
    variables = list(dict.fromkeys(_VARIABLE.findall(message)))
    others = f" or the variable {' or '.join(variables[:2])}" if variables else ""
    return f"the API key is missing; set `api_key` of the model{others}"
