"""promptfoo's models as ours: names, settings of requests, hosts and the variables of keys."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from rubric_ci.files.yaml_text.translation import Translation
from rubric_ci.values.problems import Path

IDLE: Final = ("delay", "maxConcurrency", "apiKeyRequired", "cost", "inputCost", "outputCost")
"""Settings that decide about no answer."""

_IDLE_OF_CONFIG: Final = (*IDLE, "showThinking", "stream", "maxRetries", "timeout")

_IGNORED: Final = (
    *("url", "method", "body", "transformResponse", "responseParser"),
    *("model", "name", "description", "label", "timeoutMs", "timeout_ms"),
)
"""Settings that promptfoo's models do not read: settings of services and of other tools."""


class _Models(NamedTuple):
    """How the models of a provider are named here."""

    prefix: str
    kinds: tuple[str, ...] = ()  # words between provider and model that mean nothing here
    base: str = ""  # where it is asked without a setting


_MODELS: Final[Mapping[str, _Models]] = {
    "openai": _Models("openai/", ("chat", "completion")),
    "openai:responses": _Models("openai/responses/"),
    "azure": _Models("azure/", ("chat", "completion")),
    "azure:responses": _Models("azure/responses/"),
    "azureopenai": _Models("azure/", ("chat", "completion")),
    "anthropic": _Models("anthropic/", ("messages", "completion")),
    "google": _Models("gemini/"),
    "vertex": _Models("vertex_ai/"),
    "mistral": _Models("mistral/"),
    "groq": _Models("groq/"),
    "openrouter": _Models("openrouter/"),
    "deepseek": _Models("deepseek/", ("chat",)),
    "xai": _Models("xai/", ("chat",)),
    "togetherai": _Models("together_ai/", ("chat",)),
    "fireworks": _Models("fireworks_ai/"),
    "cerebras": _Models("cerebras/"),
    "perplexity": _Models("perplexity/"),
    "cohere": _Models("cohere/"),
    "github": _Models("github/"),
    "huggingface:chat": _Models("huggingface/"),
    "ollama:chat": _Models("ollama_chat/"),
    "ollama:completion": _Models("ollama/"),
    "ollama": _Models("ollama/"),
    "bedrock": _Models("bedrock/", ("converse",)),
    "localai": _Models("openai/", ("chat",), "http://localhost:8080/v1"),
    "litellm": _Models(""),
}
"""By how an `id` starts; the longest start is used."""

_NOT_CHAT: Final = (
    "embedding",
    "embeddings",
    "image",
    "realtime",
    "moderation",
    "assistant",
    "live",
)
_AGENTS: Final = re.compile(
    r"anthropic:claude-(?:agent-sdk|code)|openai:(?:codex|agents)|browser$|mcp$|langfuse"
)
SETTINGS: Final[Mapping[str, str]] = {
    **{
        key: key
        for key in (
            *("temperature", "max_tokens", "top_p", "seed", "stop", "frequency_penalty"),
            *("presence_penalty", "response_format", "reasoning_effort", "max_completion_tokens"),
            *("top_k", "thinking", "verbosity"),
        )
    },
    "maxOutputTokens": "max_tokens",
    "max_output_tokens": "max_tokens",
    "maxTokens": "max_tokens",
    "topP": "top_p",
    "topK": "top_k",
    "num_predict": "max_tokens",
    "stopSequences": "stop",
    "apiBaseUrl": "api_base",
    "apiHost": "api_base",
    "baseURL": "api_base",
    "baseUrl": "api_base",
    "apiVersion": "api_version",
    "region": "aws_region_name",
    "projectId": "vertex_project",
    "project": "vertex_project",
    "headers": "extra_headers",
}
"""Settings that a request here has as well, by promptfoo's names."""

_INNER: Final = ("generationConfig", "options", "passthrough")
_VARIABLE: Final = re.compile(r"\$\{(\w+)\}|\$(\w+)|\{\{\s*env\.(\w+)\s*\}\}")


def is_model(options: Mapping[str, Any]) -> bool:
    """Return True if a provider is a model that is asked by a chat."""
    name = str(options.get("id", ""))
    known = _known(name)
    rest = name.split(":")[1:]
    return bool(known and not _AGENTS.match(name) and not {*rest} & {*_NOT_CHAT})


def _known(name: str) -> str:
    starts = (start for start in _MODELS if name.startswith(f"{start}:"))
    return max(starts, key=len, default="")


def model_of(found: Translation, options: Mapping[str, Any], place: Path) -> dict[str, Any]:
    """Return a model with the settings of its requests."""
    name = str(options["id"])
    start = _known(name)
    models = _MODELS[start]
    rest = name.removeprefix(f"{start}:")
    first, _, after = rest.partition(":")
    rest = after if after and first in models.kinds else rest
    given = options.get("config") or {}
    config = given if isinstance(given, dict) else {}
    base = {"api_base": models.base} if models.base else {}
    named = in_environment(rest)
    if named is None:
        found.refuse(place, f"`{name}` has a template that is not an environment variable")
    target = {"model": f"{models.prefix}{named or rest}", **base}
    return {**target, **settings_of(found, config, (*place, "config"), start)}


def settings_of(
    found: Translation, config: Mapping[str, Any], place: Path, start: str
) -> dict[str, Any]:
    """Return the settings of a request; a setting without a counterpart is reported."""
    settings: dict[str, Any] = {}
    for key, value in config.items():
        where = (*place, key)
        if key in _INNER and isinstance(value, dict):
            settings |= settings_of(found, value, where, start)
        elif key in ("apiKey", "apiKeyEnvar"):
            if variable := _key(key, value):
                settings["api_key"] = f"${{{{ {variable} }}}}"
            else:
                message = "a key is not copied: set the variable of the provider in its place"
                found.skip(where, message)
        elif start == "vertex" and key in ("region", "location"):
            settings["vertex_location"] = value
        elif key in SETTINGS:
            if (made := _value(key, value, start)) is None:
                found.refuse(where, f"`{key}` has a template, or is in another file")
            else:
                settings[SETTINGS[key]] = made
        elif key == "reasoning" and isinstance(value, dict) and {*value} == {"effort"}:
            settings["reasoning_effort"] = value["effort"]
        elif key in _IGNORED:
            found.skip(where, f"promptfoo ignores `{key}` of a model")
        elif key not in _IDLE_OF_CONFIG:
            found.refuse(where, f"`{key}` has no counterpart")
    return settings


def in_environment(value: Any) -> Any:
    """Return a value with variables of the environment as ours; None: it has other templates."""
    text = json.dumps(value, default=str)
    made = re.sub(r"\{\{\s*env\.(\w+)\s*\}\}", r"${{ \1 }}", text)
    return json.loads(made) if "{{" not in made.replace("${{", "") else None


def _key(key: str, value: Any) -> str:
    if key == "apiKeyEnvar":
        return str(value) if re.fullmatch(r"\w+", str(value)) else ""
    match = _VARIABLE.fullmatch(str(value).strip())
    return next(filter(None, match.groups()), "") if match else ""


def _value(key: str, value: Any, start: str) -> Any:
    """Return a setting as ours; None: it cannot be."""
    if isinstance(value, str) and value.startswith("file://"):
        return None
    if isinstance(value, str) and (match := _VARIABLE.fullmatch(value.strip())):
        return f"${{{{ {next(filter(None, match.groups()))} }}}}"
    if (value := in_environment(value)) is None:
        return None
    if key == "apiHost" and isinstance(value, str) and "://" not in value:
        return f"https://{value}" if start.startswith("azure") else f"https://{value}/v1"
    return value
