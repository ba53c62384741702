"""Errors of LiteLLM's proxy as messages, and the HTTP statuses that they mean."""

import re
from typing import Final, NamedTuple

from rubric_ci.llm.litellm_wording import BY_CLASS, provider_text, wording


class GatewayError(NamedTuple):
    """The message for an error; `status` is None if the HTTP status is what it means."""

    message: str
    status: int | None = None


_KNOWN: Final[tuple[tuple[re.Pattern[str], GatewayError], ...]] = (
    # Without a database, the proxy has status 400 for an unknown key and an unknown model.
    (
        re.compile(r"No connected db|Invalid proxy server token passed"),
        GatewayError("the gateway refuses the API key", 401),
    ),
    (
        re.compile(r"not allowed to access model"),
        GatewayError("the API key has no access to the model", 403),
    ),
    (
        re.compile(r"crossed budget|Budget has been exceeded"),
        GatewayError("the gateway's budget is used up"),
    ),
    (
        re.compile(r"All deployments for selected model are in cooldown"),
        GatewayError("all deployments of the model are in cooldown at the gateway"),
    ),
)
_UNKNOWN_MODEL: Final = "Invalid model name passed in model="
_CLASSES: Final = re.compile(r"\b(?:[A-Z]\w*Error|Timeout)\b")


def gateway_error(text: str) -> GatewayError:
    """Return the error of a gateway for the text of its reply; any other text stays as it is."""
    for pattern, error in _KNOWN:
        if pattern.search(text):
            return error
    if _UNKNOWN_MODEL in text:
        name = text.partition(_UNKNOWN_MODEL)[2].partition(". Call ")[0]
        return GatewayError(f"the gateway does not know the model `{name}`", 404)
    if not text.startswith("litellm."):
        return GatewayError(text)
    said = provider_text(text)
    # The proxy wraps the class that says most: `litellm.BadRequestError: ContextWindow…: said`.
    names = _CLASSES.findall(text.partition(said)[0] if said else text)
    known = [name for name in names if name in BY_CLASS]
    return GatewayError(wording(known[-1] if known else "", text, said))
