"""Refuse model requests to hosts that are not allowed, before anything is sent."""

import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from rubric_ci.errors import CannotReachModel
from rubric_ci.models.llm.direct import named_provider
from rubric_ci.models.llm.http_guard import limited_to, refusal_of
from rubric_ci.values.hosts import AllowedHosts, host_of
from rubric_ci.values.json_value import JSON
from rubric_ci.values.llm_calls import ModelCall, ModelCaller, ModelReply
from rubric_ci.values.targets import Endpoint

PROVIDER_HOSTS: Final = {
    "anthropic": "api.anthropic.com",
    "cohere": "api.cohere.com",
    "deepseek": "api.deepseek.com",
    "gemini": "generativelanguage.googleapis.com",
    "groq": "api.groq.com",
    "mistral": "api.mistral.ai",
    "openrouter": "openrouter.ai",
    "xai": "api.x.ai",
}
"""Where litellm sends a request without `api_base`; openai's is a matter of the environment."""

LOCAL_HOSTS: Final = {
    "docker_model_runner": "localhost:22088",
    "langflow": "localhost:7860",
    "langgraph": "localhost:2024",
    "lemonade": "localhost:8000",
    "llamafile": "127.0.0.1:8080",
    "ollama": "localhost:11434",
    "ollama_chat": "localhost:11434",
    "xinference": "127.0.0.1:9997",
}
"""Where litellm sends a request without `api_base` on this machine: no provider, but a service."""

_HOST_OPTIONS: Final = frozenset({"api_base", "base_url"})
_TEXTS: Final = frozenset({"extra_headers", "headers", "metadata", "stop", "user"})  # sent as data
_HOST_PARTS: Final = ("region", "location", "account")  # options that providers put into a host
_ANY_HOST: Final = (
    "a command may send the answers to any host, so it was not started; set "
    "RUBRIC_CI_ALLOWED_HOSTS to nothing, or choose a judge with `model`, or with `cli` and no `env`"
)
_PARTS = re.compile(r"[\s'\"=;,:&|<>()@]+")  # of a shell's text, an option, a list of paths
_PLAIN = re.compile(r"[\w-]*")
_PROVIDER = re.compile(r"\A[\w-]+/(?=https?://)", re.IGNORECASE)


def guard(ask: ModelCaller, allowed: AllowedHosts) -> ModelCaller:
    """Return a caller that sends requests to allowed hosts only; raises CannotReachModel."""

    async def asked(call: ModelCall) -> ModelReply:
        if call.endpoint.http and call.endpoint.http.is_started:
            return await ask(call)  # its address is no setting, and redirects are not followed
        if problem := refusal(call.endpoint, allowed):
            raise CannotReachModel(f"{call.endpoint.model}: {problem}")
        with limited_to(allowed):
            return await ask(call)

    return asked


def hosts_of(endpoint: Endpoint) -> frozenset[str]:
    """Return the hosts that the options of a model name, or where it is on this machine."""
    model = _PROVIDER.sub("", endpoint.model)  # "huggingface/https://…"
    urls = (*_urls(endpoint.options), *([model] if "://" in model else []))
    local = LOCAL_HOSTS.get(_provider(endpoint), "")
    return frozenset(map(host_of, urls)) or frozenset(filter(None, [local]))


def exchange_hosts(endpoint: Endpoint) -> frozenset[str]:
    """Return the host that the configuration names for the exchange of tokens."""
    identity = endpoint.identity
    return frozenset([host_of(identity.token_url)] if identity and identity.token_url else [])


def refusal(endpoint: Endpoint, allowed: AllowedHosts) -> str:
    """Return why a model must not be asked; empty: it may."""
    named = hosts_of(endpoint)
    if identity := endpoint.identity:
        own = not identity.token_url and allowed.providers
        if not own and not allowed.allows(host := host_of(identity.url)):
            return refusal_of(host)
    command = endpoint.command
    if command and not allowed.providers and (command.env or not command.cli):
        return _ANY_HOST
    if command and allowed.checkout and (file := _own_file(command.argv, Path(allowed.checkout))):
        return (
            f"the judge's command names `{file}`, a file of this change, so it was not started; "
            "install the script outside of the checkout, or set `--policy-from head`"
        )
    if not (named or allowed.providers):
        named = frozenset({_provider_host(endpoint)})
    for host in sorted(named):
        if not allowed.allows(host):
            return refusal_of(host)
    for key, value in endpoint.options.items():
        if any(part in key for part in _HOST_PARTS) and not _PLAIN.fullmatch(str(value)):
            return f"`{key}` is not a plain name, so the host of the request is unknown"
    return ""


def _own_file(argv: Sequence[str], checkout: Path) -> str:
    """Return the first part of a command that is a file of the checkout; empty: none is."""
    program = shutil.which(argv[0]) if argv else None
    parts = [program or ""]
    for argument in argv:
        parts += (argument, *_PARTS.split(argument))
    for part in filter(None, parts):
        path = checkout / part
        found = path.exists() if Path(part).is_absolute() else path.is_file()
        if found and path.resolve().is_relative_to(checkout.resolve()):
            return part
    return ""


def _provider_host(endpoint: Endpoint) -> str:
    own = endpoint.options.get("custom_llm_provider")
    if own is None and (direct := named_provider(endpoint)):
        return host_of(direct.server_of(endpoint)[0])
    host = PROVIDER_HOSTS.get(_provider(endpoint))
    return f"{host}:443" if host else ""


def _provider(endpoint: Endpoint) -> str:
    own = endpoint.options.get("custom_llm_provider")
    return str(own or endpoint.model.partition("/")[0])


def _urls(value: JSON, key: str = "") -> Iterator[str]:
    match value:
        case str() if value and (key in _HOST_OPTIONS or "://" in value):
            yield value
        case Mapping():
            for name in value.keys() - _TEXTS:
                yield from _urls(value[name], name)
        case list() | tuple():
            for item in value:
                yield from _urls(item, key)
        case _:
            return
