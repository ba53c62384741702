"""Options that a target of the head may set under a base's policy: model, texts and numbers.

Every other option can name a file, a credential, an endpoint or a header. These come from the base,
as one set: that of the target of the same name, or of another model of the same provider.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from rubric_ci.model.config import Endpoint, LlmTarget
from rubric_ci.model.json_value import JSON

FREE: Final = frozenset(
    (
        *("frequency_penalty", "logit_bias", "logprobs", "max_completion_tokens", "max_tokens"),
        *("metadata", "min_p", "modalities", "n", "parallel_tool_calls", "prediction"),
        *("presence_penalty", "reasoning_effort", "repetition_penalty", "response_format", "seed"),
        *("service_tier", "stop", "stop_sequences", "store", "temperature", "thinking"),
        *("tool_choice", "tools", "top_k", "top_logprobs", "top_p", "user", "verbosity"),
        *("input_cost_per_token", "output_cost_per_token"),
        *("input_cost_per_second", "output_cost_per_second"),
    )
)
"""Options that are sent as data, or are prices. An option that is not listed is the base's."""


def connection(endpoint: Endpoint) -> Mapping[str, JSON]:
    """Return the options of a model that are the base's to set."""
    return {key: value for key, value in endpoint.options.items() if key not in FREE}


def provider(endpoint: Endpoint) -> str:
    """Return the owner of a credential: `openai` for `openai/gpt-5`, `gpt` for `gpt-5`."""
    name, slash, _ = endpoint.model.partition("/")
    return name if slash else name.partition("-")[0]


def connected(target: LlmTarget, base: LlmTarget | None, known: Iterable[Endpoint]) -> LlmTarget:
    """Return a target of the head with the connection of the base.

    `base` is the target of the same name, `known` are all models of the base. A connection that
    the base does not have is held back: the target must not be asked.
    """
    endpoint, own = target.endpoint, connection(target.endpoint)
    if base and provider(base.endpoint) == provider(endpoint):
        free = {key: value for key, value in endpoint.options.items() if key in FREE}
        options = {**free, **connection(base.endpoint)}
        return replace(target, endpoint=replace(endpoint, options=options))
    same = (each for each in known if provider(each) == provider(endpoint))
    if not own or any(connection(each) == own for each in same):
        return target
    return replace(target, held=tuple(sorted(own)))
