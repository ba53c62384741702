"""promptfoo's models and HTTP services as targets.

Of models: names, settings of requests, hosts and the variables of keys. `provider: http` asks a
service whose reply has the answer at a path. Otherwise the shim asks as promptfoo does: a check by
code gets data of a reply as data, and code of the configuration reads replies.
"""

import json
import re
import shlex
from collections.abc import Iterable, Mapping
from functools import partial
from posixpath import join
from typing import Any, Final, NamedTuple

from rubric_ci.parts.bring.dialects.promptfoo_code import (
    COMMANDS,
    PROMPT_WORD,
    SHIMS,
    VARIABLES,
    as_argument,
    language_of,
)
from rubric_ci.parts.bring.translation import Beside, Translation, with_environment
from rubric_ci.values.json_value import nodes, with_texts
from rubric_ci.values.problems import Path

_READ: Final = re.compile(r'["$`\\%!\r\n\0]')  # between double quotes, by one of the shells


def written_word(text: str) -> str:
    """Return the text as a word: where it can be, for a POSIX shell and for cmd.exe.

    cmd.exe takes double quotes only; a POSIX shell reads some characters between them.
    """
    if shlex.quote(text) == text or _READ.search(text):
        return shlex.quote(text)
    return f'"{text}"'


IDLE: Final = ("delay", "maxConcurrency", "apiKeyRequired", "cost", "inputCost", "outputCost")
"""Settings that decide about no answer."""

_IDLE_OF_CONFIG: Final = (*IDLE, "showThinking", "stream", "maxRetries", "timeout")

_IGNORED: Final = (
    *("url", "method", "body", "transformResponse", "responseParser"),
    *("model", "name", "description", "label", "timeoutMs", "timeout_ms"),
)
"""Settings that promptfoo's models do not read: settings of services and of other tools."""


class _Models(NamedTuple):
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

_NOT_CHAT: Final = frozenset(
    ("embedding", "embeddings", "image", "realtime", "moderation", "assistant", "live")
)
_AGENTS: Final = re.compile(
    r"anthropic:claude-(?:agent-sdk|code)|openai:(?:codex|agents)|browser$|mcp$|langfuse"
)
_SAME: Final = (
    *("temperature", "max_tokens", "top_p", "seed", "stop", "frequency_penalty"),
    *("presence_penalty", "response_format", "reasoning_effort", "max_completion_tokens"),
    *("top_k", "thinking", "verbosity"),
)
_SETTINGS: Final[Mapping[str, str]] = {
    **{key: key for key in _SAME},
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
_IN_ENVIRONMENT: Final = re.compile(r"\$\{(\w+)\}|\$(\w+)|\{\{\s*env\.(\w+)\s*\}\}")


def is_model(options: Mapping[str, Any]) -> bool:
    """Return True if a provider is a model that is asked by a chat."""
    name = str(options.get("id", ""))
    is_agent = _AGENTS.match(name)
    return bool(_known(name) and not is_agent and _NOT_CHAT.isdisjoint(name.split(":")[1:]))


def _known(name: str) -> str:
    starts = (start for start in _MODELS if name.startswith(f"{start}:"))
    return max(starts, key=len, default="")


def model_of(found: Translation, options: Mapping[str, Any], place: Path) -> dict[str, Any]:
    name = str(options["id"])
    start = _known(name)
    models = _MODELS[start]
    rest = name.removeprefix(f"{start}:")
    first, _, after = rest.partition(":")
    rest = after if after and first in models.kinds else rest
    base = {"api_base": models.base} if models.base else {}
    named = in_environment(rest)
    if named is None:
        found.refuse(place, f"`{name}` has a template that is not an environment variable")
    target = {"model": f"{models.prefix}{named or rest}", **base}
    return {**target, **_settings(found, _config(options), (*place, "config"), start)}


def _config(options: Mapping[str, Any]) -> dict[str, Any]:
    config = options.get("config")
    return config if isinstance(config, dict) else {}


def _settings(
    found: Translation, config: Mapping[str, Any], place: Path, start: str
) -> dict[str, Any]:
    """Return the settings of a request; a setting without a counterpart is reported."""
    settings: dict[str, Any] = {}
    for key, value in config.items():
        where = (*place, key)
        if key in _INNER and isinstance(value, dict):
            settings |= _settings(found, value, where, start)
        elif key in ("apiKey", "apiKeyEnvar"):
            if variable := _key(key, value):
                settings["api_key"] = f"${{{{ {variable} }}}}"
            else:
                message = "a key is not copied: set the variable of the provider in its place"
                found.skip(where, message)
        elif start == "vertex" and key in ("region", "location"):
            settings["vertex_location"] = value
        elif key in _SETTINGS:
            if (made := _value(key, value, start)) is None:
                found.refuse(where, f"`{key}` has a template, or is in another file")
            else:
                settings[_SETTINGS[key]] = made
        elif key == "reasoning" and isinstance(value, dict) and {*value} == {"effort"}:
            settings["reasoning_effort"] = value["effort"]
        elif key in _IGNORED:
            found.skip(where, f"promptfoo ignores `{key}` of a model")
        elif key not in _IDLE_OF_CONFIG:
            found.refuse(where, f"`{key}` has no counterpart")
    return settings


def in_environment(value: Any) -> Any:
    """Return a value with variables of the environment as ours; None: it has other templates."""
    made = with_environment(value)
    return None if "{{" in json.dumps(made, default=str).replace("${{", "") else made


def _key(key: str, value: Any) -> str:
    if key == "apiKeyEnvar":
        return str(value) if re.fullmatch(r"\w+", str(value)) else ""
    match = _IN_ENVIRONMENT.fullmatch(str(value).strip())
    return next(filter(None, match.groups()), "") if match else ""


def _value(key: str, value: Any, start: str) -> Any:
    """Return a setting as ours; None: it cannot be."""
    if isinstance(value, str) and value.startswith("file://"):
        return None
    if isinstance(value, str) and (match := _IN_ENVIRONMENT.fullmatch(value.strip())):
        return f"${{{{ {next(filter(None, match.groups()))} }}}}"
    if (value := in_environment(value)) is None:
        return None
    if key == "apiHost" and isinstance(value, str) and "://" not in value:
        return f"https://{value}" if start.startswith("azure") else f"https://{value}/v1"
    return value


_READERS: Final = ("transformResponse", "responseParser")
_OF_SERVICE: Final = ("url", "method", "headers", "body", "queryParams", *_READERS)
_IDLE: Final = ("timeout", "timeoutMs", "maxRetries", "tokenEstimation", "useHttps")
_DECIDING: Final = (
    *("request", "multipart", "tools", "tool_choice", "transformToolsFormat", "transformRequest"),
    *("session", "sessionParser", "sessionSource", "stateful", "validateStatus"),
    *("auth", "signatureAuth", "tls"),
)
_VARIABLE: Final = re.compile(
    r"\{\{-?\s*+(env\.)?+([A-Za-z_]\w*+)(?:\.\w++)*+\s*+"
    r"(\|\s*+(?:dump|safe|default\((?:'[^'{}]*+'|\"[^\"{}]*+\")\))\s*+)?+-?\}\}"
)
_PATH: Final = re.compile(r"json(?:\??\.\w++|\[\d++\])++")
_ARROW: Final = re.compile(r"\(?\s*+(\w++)(?:\s*+,\s*+\w++)*+\s*+\)?\s*+=>\s*+(.++)", re.DOTALL)


class Service(NamedTuple):
    """A service as a target, and as the program that asks it as promptfoo does."""

    target: dict[str, Any]
    program: dict[str, Any]


def service_of(
    found: Translation, options: Mapping[str, Any], place: Path, transforms: list[str]
) -> Service | None:
    """Return a service; None, and a report, without a counterpart."""
    config = _config(options)
    at: Path = (*place, "config")
    found.skip_keys(config, (*_OF_SERVICE, *_IDLE), _DECIDING, at)
    name = str(options["id"])
    request: dict[str, Any] = {
        "url": config.get("url", name if "://" in name else ""),
        "method": str(config.get("method", "GET")).upper(),
        **{key: config[key] for key in ("headers", "body", "queryParams") if key in config},
    }
    texts = [each for _, each in nodes(request) if isinstance(each, str)]
    text = "\n".join(texts)
    if any(sign in _VARIABLE.sub("", text) for sign in ("{{", "{%")):
        found.refuse(at, "templates of a service that are not variables have no counterpart")
        return None
    if any(each.startswith("file://") for each in texts):
        found.refuse(at, "a file in the request of a service is not read")
        return None
    used = [*_VARIABLE.finditer(text)]
    names = {match[2] for match in used if not match[1]}
    reader = str(next((config[key] for key in _READERS if key in config), "")).strip()
    program = _program(found.beside, request, reader, used, transforms)
    path = _answer(reader)
    others = names - {"prompt"} or transforms or any(match[3] or "-" in match[0] for match in used)
    plain = path and not others
    target = _target(request, path) if plain and _is_plain(request) else program
    return Service(target, program)


def _program(
    beside: Beside,
    request: Mapping[str, Any],
    reader: str,
    used: list[re.Match[str]],
    transforms: list[str],
) -> dict[str, Any]:
    file = reader.removeprefix("file://")
    if file != reader and language_of(file):
        reader = f"file://{join(beside.base, file)}"
    read = {"reader": reader} if reader else {}
    spec = as_argument(json.dumps({**request, **read}, default=str))
    reads = any(not match[1] and match[2] != "prompt" for match in used)
    variables = f"{beside.stem}{VARIABLES}" if reads else ""
    target = run_by_shim("javascript", ["--http", spec], transforms, variables)
    environment = sorted({match[2] for match in used if match[1]})
    return target | ({"env": environment} if environment else {})


def run_by_shim(
    language: str, words: Iterable[str], transforms: Iterable[str] = (), variables: str = ""
) -> dict[str, Any]:
    """Return a program that a shim runs; `variables` is the file with those that it reads."""
    held = ["--vars", variables, "{EVAL_ID}"] if variables else []
    rest = map(as_argument, transforms)
    line = (COMMANDS[language], SHIMS[language], *held, *words, PROMPT_WORD, *rest)
    shown = (each if each in _FILLED else written_word(each) for each in line)
    return {"provider": "cli", "command_template": " ".join(shown), "cwd": "."}


_FILLED: Final = frozenset(("{EVAL_ID}", PROMPT_WORD))


def _is_plain(request: Mapping[str, Any]) -> bool:
    """Return True for a request that `provider: http` sends alike."""
    sends = request["method"] in ("POST", "PUT", "PATCH") and isinstance(request.get("body"), dict)
    return "queryParams" not in request and (sends or request["method"] == "GET")


def _target(request: dict[str, Any], answer: str) -> dict[str, Any]:
    request = with_environment(request)
    kept = ("url", "method", "headers")
    target = {key: each for key, each in request.items() if key in kept}
    if "body" in request and request["method"] != "GET":
        prompt = partial(re.sub, r"\{\{\s*prompt\s*\}\}", "{{ input }}")
        target["body"] = with_texts(request["body"], prompt)
    return {"provider": "http", **target, "answer": answer}


def _answer(code: str) -> str:
    """Return the path of a value in a reply, of `json.a[0].text` or a function of it; "": none."""
    if match := _ARROW.fullmatch(code):
        code = re.sub(rf"\A{match[1]}\b", "json", match[2].strip())
    if not _PATH.fullmatch(code):
        return ""
    steps: list[str] = re.findall(r"\w+", code)
    return "".join(f"/{step}" for step in steps[1:])
