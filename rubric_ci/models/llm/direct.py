"""The providers that are asked without litellm."""

from collections.abc import Mapping
from typing import Final, Protocol

from rubric_ci.models.llm import (
    anthropic_http,
    gemini_http,
    http_service,
    judge_command,
    openai_http,
)
from rubric_ci.system.model_list import model_info
from rubric_ci.values.json_value import JSON
from rubric_ci.values.llm_calls import ModelCall, ModelReply
from rubric_ci.values.targets import Endpoint


class DirectProvider(Protocol):
    """A module that asks a provider."""

    def supports(self, endpoint: Endpoint, info: Mapping[str, JSON], /) -> bool:
        """Return True if it can ask a model, by the entry of the model list."""

    def has_entry(self, endpoint: Endpoint, /) -> bool:
        """Return True if its server has an entry of a model at a known place."""

    def server_of(self, endpoint: Endpoint, /) -> tuple[str, str]:
        """Return the base URL of a model and its API key."""

    async def ask(self, call: ModelCall, /) -> ModelReply:
        """Send one call; raises RequestError."""

    async def look_up(self, endpoint: Endpoint, /) -> Mapping[str, JSON]:
        """Return the server's entry of a model, which costs nothing; raises RequestError."""


_PROVIDERS: Final[Mapping[str, DirectProvider]] = {
    "openai": openai_http,
    "anthropic": anthropic_http,
    "gemini": gemini_http,
}


def provider_of(endpoint: Endpoint) -> DirectProvider | None:
    """Return the provider that can be asked for a model directly; None: litellm is needed."""
    provider = named_provider(endpoint)
    known = provider and provider.supports(endpoint, model_info(endpoint.model))
    return provider if known else None


def named_provider(endpoint: Endpoint) -> DirectProvider | None:
    """Return the provider that the name of a model starts with, of a command or a service."""
    if endpoint.command:
        return judge_command
    if endpoint.http:
        return http_service
    return _PROVIDERS.get(endpoint.model.partition("/")[0])


def provider_with_entry(endpoint: Endpoint) -> DirectProvider | None:
    """Return the provider whose server has an entry of a model at a known place; else None."""
    provider = named_provider(endpoint)
    return provider if provider and provider.has_entry(endpoint) else None
