"""Models of OpenAI's chat format, asked without litellm.

litellm takes three seconds of processor time and 140 MB to load, and several milliseconds for
each call; docs/performance.md has the figures. It is used for every other provider, and for models
with options that this module does not support.
"""

import os
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from rubric_ci.llm import direct_http
from rubric_ci.llm.gateway import GatewayFacts, gateway_facts
from rubric_ci.model.config import Endpoint
from rubric_ci.model.dataclass import dataclass
from rubric_ci.model.json_value import JSON

PREFIX: Final = "openai/"
DEFAULT_BASE: Final = "https://api.openai.com/v1"
_RESPONSES = "responses/"  # litellm's name for models of OpenAI's Responses API

SENT = frozenset(
    {
        *("temperature", "top_p", "seed", "frequency_penalty", "presence_penalty", "stop", "user"),
        "reasoning_effort",
    }
)
CONNECTION: Final = frozenset(
    {
        *("api_base", "api_key", "base_url", "extra_headers", "max_tokens"),
        *("input_cost_per_token", "input_cost_per_token_batches"),
        *("output_cost_per_token", "output_cost_per_token_batches"),
    }
)
"""Options that every direct client reads, besides those that it sends."""
_UNDERSTOOD = SENT | CONNECTION | {"organization"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatReply:
    """The body of a reply, and what a gateway says of it."""

    body: Mapping[str, JSON]
    gateway: GatewayFacts


def supports(endpoint: Endpoint, info: Mapping[str, JSON]) -> bool:
    """Return True if this module can ask a model; `info` is its entry of the model list."""
    return (
        endpoint.model.startswith(PREFIX)
        and not endpoint.model.startswith(PREFIX + _RESPONSES)
        and endpoint.options.keys() <= _UNDERSTOOD
        and info.get("mode", "chat") == "chat"
    )


def has_entry(endpoint: Endpoint) -> bool:
    """Return True if the server of a model has an entry of it at a known place."""
    return (
        endpoint.model.startswith(PREFIX)
        and "custom_llm_provider" not in endpoint.options
        and bool(server_of(endpoint)[1])
    )


def server_of(endpoint: Endpoint) -> tuple[str, str]:
    """Return the base URL of a model and its API key."""
    given = (
        endpoint.options.get("api_base")
        or endpoint.options.get("base_url")
        # litellm reads these variables for every request as well.
        or os.environ.get("OPENAI_BASE_URL")
        or os.environ.get("OPENAI_API_BASE")
        or DEFAULT_BASE
    )
    key = endpoint.options.get("api_key") or os.environ.get("OPENAI_API_KEY") or ""
    return str(given), str(key)


async def post(endpoint: Endpoint, body: Mapping[str, JSON]) -> ChatReply:
    """Send a chat request and return the reply; raises RequestError."""
    url = _url(endpoint, "chat/completions")
    reply, headers = await direct_http.post(url, headers_of(endpoint), body)
    return ChatReply(body=reply, gateway=gateway_facts(headers))


async def look_up(endpoint: Endpoint) -> Mapping[str, JSON]:
    """Return the server's entry of a model, which costs nothing to read; raises RequestError."""
    name = quote(endpoint.model.removeprefix(PREFIX).removeprefix(_RESPONSES))
    return await direct_http.get(_url(endpoint, f"models/{name}"), headers_of(endpoint))


def headers_of(endpoint: Endpoint) -> dict[str, str]:
    """Return the request headers: credentials, organization, and those of `extra_headers`.

    Raises RequestError without an API key.
    """
    key = server_of(endpoint)[1]
    if not key:
        raise direct_http.missing_key("OPENAI_API_KEY")
    environment = os.environ
    organization = (
        endpoint.options.get("organization")
        or environment.get("OPENAI_ORGANIZATION")
        or environment.get("OPENAI_ORG_ID")
    )
    named = {
        "OpenAI-Organization": organization,
        "OpenAI-Project": environment.get("OPENAI_PROJECT_ID"),
    }
    return {
        "Authorization": f"Bearer {key}",
        **{name: str(value) for name, value in named.items() if value},
        **(endpoint.options.get("extra_headers") or {}),
    }


def _url(endpoint: Endpoint, path: str) -> str:
    return f"{server_of(endpoint)[0].rstrip('/')}/{path}"
