"""Options of targets that are the base's to set, as they can name a host or a credential.

Every option that is not free can name a file, a credential, an endpoint or a header.
"""

from collections.abc import Mapping
from typing import Final

from rubric_ci.values.config import Config, Endpoint
from rubric_ci.values.hosts import CREDENTIALS
from rubric_ci.values.json_value import JSON

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
_SECRET: Final = CREDENTIALS - {"api_base", "base_url", "url_before"}
_SECRET_ENDS: Final = ("_key", "_secret", "_token", "password")


def connection(endpoint: Endpoint) -> Mapping[str, JSON]:
    """Return the options of a model that are the base's to set."""
    return {key: value for key, value in endpoint.options.items() if key not in FREE}


def judge_targets(config: Config) -> frozenset[str]:
    """Return the names of the targets that judge."""
    return frozenset(
        target.judge_target for target in config.targets.values() if target.judge_target
    )


def kept_targets(head: Config, base: Config) -> frozenset[str]:
    """Return the targets with a model of the same provider, or one program, on both sides."""
    then, now = _asked(base), _asked(head)
    return frozenset(name for name in then if then[name] == now.get(name))


def _asked(config: Config) -> Mapping[str, str]:
    """Return the provider or the program of each target that has one."""
    return {
        name: target.credential_of
        for name, target in config.targets.items()
        if target.credential_of
    }


def is_secret(key: str) -> bool:
    """Return True for a setting whose value is not shown."""
    name = key.rpartition(".")[2].lower()
    return name in _SECRET or (name.endswith(_SECRET_ENDS) and "_cost_per_" not in name)
