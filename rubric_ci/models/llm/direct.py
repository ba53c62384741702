"""The providers that are asked without litellm."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from typing import Final

from rubric_ci.models.llm import (
    anthropic_http,
    gemini_http,
    http_service,
    judge_command,
    openai_http,
)
from rubric_ci.system.model_list import model_info
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.json_value import JSON
from rubric_ci.values.llm_calls import ModelCall, ModelReply
from rubric_ci.values.targets import Endpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectProvider:
    """How a provider is asked; `ask` and `look_up` raise RequestError."""

    supports: Callable[[Endpoint, Mapping[str, JSON]], bool] = field(default=lambda *_: True)
    """Whether it can ask a model, by the entry of the model list."""
    has_entry: Callable[[Endpoint], bool] = field(default=lambda _: True)
    server_of: Callable[[Endpoint], tuple[str, str]]  # its base URL and API key
    ask: Callable[[ModelCall], Awaitable[ModelReply]]
    look_up: Callable[[Endpoint], Awaitable[Mapping[str, JSON]]]  # the entry; it costs nothing


def provider_of(endpoint: Endpoint) -> DirectProvider | None:
    """Return the provider that can be asked for a model directly; None: litellm is needed."""
    provider = named_provider(endpoint)
    known = provider and provider.supports(endpoint, model_info(endpoint.model))
    return provider if known else None


def named_provider(endpoint: Endpoint) -> DirectProvider | None:
    """Return the provider that the name of a model starts with, of a command or a service."""
    if endpoint.command:
        return _COMMAND
    if endpoint.http:
        return _SERVICE
    return _PROVIDERS.get(endpoint.model.partition("/")[0])


def provider_with_entry(endpoint: Endpoint) -> DirectProvider | None:
    """Return the provider whose server has an entry of a model at a known place; else None."""
    provider = named_provider(endpoint)
    return provider if provider and provider.has_entry(endpoint) else None


def _has_key(
    supports: Callable[[Endpoint, Mapping[str, JSON]], bool],
    server_of: Callable[[Endpoint], tuple[str, str]],
) -> Callable[[Endpoint], bool]:
    return lambda endpoint: supports(endpoint, {}) and bool(server_of(endpoint)[1])


_COMMAND: Final = DirectProvider(
    server_of=judge_command.server_of, ask=judge_command.ask, look_up=judge_command.look_up
)
_SERVICE: Final = DirectProvider(
    server_of=http_service.server_of, ask=http_service.ask, look_up=http_service.look_up
)
_PROVIDERS: Final[Mapping[str, DirectProvider]] = {
    "openai": DirectProvider(
        supports=openai_http.supports,
        has_entry=openai_http.has_entry,
        server_of=openai_http.server_of,
        ask=openai_http.ask,
        look_up=openai_http.look_up,
    ),
    "anthropic": DirectProvider(
        supports=anthropic_http.supports,
        has_entry=_has_key(anthropic_http.supports, anthropic_http.server_of),
        server_of=anthropic_http.server_of,
        ask=anthropic_http.ask,
        look_up=anthropic_http.look_up,
    ),
    "gemini": DirectProvider(
        supports=gemini_http.supports,
        has_entry=_has_key(gemini_http.supports, gemini_http.server_of),
        server_of=gemini_http.server_of,
        ask=gemini_http.ask,
        look_up=gemini_http.look_up,
    ),
}
