"""LiteLLM and its proxy: the wording of their errors, and the facts in headers of the proxy."""

import re
from collections.abc import Mapping
from math import inf
from typing import Final

from rubric_ci.system.model_list import model_info
from rubric_ci.system.output_and_masking import redact
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.formats_and_defaults import MODEL_JUDGE

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
_NO_GOOGLE = re.compile(r"[Dd]efault credentials were not found")
_PACKAGES: Final[Mapping[str, str]] = {"google": "google-auth", "google.auth": "google-auth"}
_PACKAGE = re.compile(r"No module named '(?P<name>[\w.]+)'")


def missing_setup(message: str) -> str:
    """Return the missing credentials or package of a request; empty: none."""
    if found := _PACKAGE.search(message):
        package = _PACKAGES.get(found["name"], found["name"])
        return f"this provider needs the Python package `{package}`; install it"
    if _NO_GOOGLE.search(message):
        return (
            "Google's credentials are missing; set GOOGLE_APPLICATION_CREDENTIALS to their file, "
            "as google-github-actions/auth does"
        )
    if not _NO_KEY.search(message):
        return ""
    variables = list(dict.fromkeys(_VARIABLE.findall(message)))
    others = f" or the variable {' or '.join(variables[:2])}" if variables else ""
    return f"the API key is missing; set `api_key` of the model{others}"


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
    """Return the provider's error, where litellm quotes it; else ""."""
    found = _QUOTED.search(" ".join(redact(message).split()))
    return found["text"][:500] if found else ""


_CLASSES: Final = re.compile(r"\b(?:[A-Z]\w*Error|Timeout)\b")


def gateway_wording(text: str) -> str:
    """Return the message for the text of a gateway's error; any other text stays as it is.

    Without a database, the proxy has status 400 for an unknown key; see `RequestError.scope`.
    """
    if "No connected db" in text:
        return "the gateway refuses the API key"
    if not text.startswith("litellm."):
        return text
    said = provider_text(text)
    # The proxy wraps the class that says most: `litellm.BadRequestError: ContextWindow…: said`.
    names = _CLASSES.findall(text.partition(said)[0] if said else text)
    known = [name for name in names if name in BY_CLASS]
    return wording(known[-1] if known else "", text, said)


_COST: Final = "x-litellm-response-cost"  # in dollars
_FALLBACKS: Final = "x-litellm-attempted-fallbacks"  # a number
_MODEL: Final = "x-litellm-model-name"  # of the deployment that replied, with its provider


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayFacts:
    """The additions of a gateway to a reply."""

    cost_usd: float | None = None  # None: it names no cost, or has no price
    fallback: bool = False  # another model than the requested one replied
    model: str = ""  # that replied, if the model list has it

    def model_of(self, requested: str, replied: str) -> str:
        """Return the model that replied: a proxy puts the name of an alias into the body."""
        return self.model if self.model and replied == requested else replied


NO_GATEWAY: Final = GatewayFacts()


def gateway_facts(headers: Mapping[str, str]) -> GatewayFacts:
    """Return the gateway's headers of a reply; names of headers are in lower case."""
    model = headers.get(_MODEL, "")
    return GatewayFacts(
        cost_usd=_cost(headers.get(_COST)),
        fallback=headers.get(_FALLBACKS, "0").strip() not in {"", "0"},
        # A deployment may have any name, which says nothing of its model.
        model=model if model_info(model) else "",
    )


def _cost(value: str | None) -> float | None:
    """Return the cost that a gateway names; None without one, or for a model without a price."""
    try:
        cost = float(value or 0)
    except ValueError:
        return None
    return cost if 0 < cost < inf else None
