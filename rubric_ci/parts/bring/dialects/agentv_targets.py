"""Targets of AgentV: `.agentv/targets.yaml` of 2.7 to 4, and `.agentv/providers.yaml` of 5.

An alias (`use_target`) is the target that it names, under its own name; a variable names it when
cases are run. Files without aliases and health checks in AgentV's spelling are ours already.

Of a provider, `id` is the kind and `label` the name. Each part that decides about an answer has a
counterpart or is reported; agents, which are not started from files of AgentV, keep their names
only.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from rubric_ci.parts.bring.translation import Translation, with_environment
from rubric_ci.values.agent_names_and_credentials import AGENTV_AGENTS, ALIAS, NOT_STARTED
from rubric_ci.values.json_value import nodes
from rubric_ci.values.problems import Path

_RETRIES: Final = (
    *("max_retries", "retry_initial_delay_ms", "retry_max_delay_ms", "retry_backoff_factor"),
    "retry_status_codes",
)
_OF_MODEL: Final = (
    *("endpoint", "base_url", "resource", "api_key", "model", "deployment", "variant", "version"),
    *("api_version", "temperature", "max_output_tokens", "api_format", *_RETRIES),
)
_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "cli": (
        *("command", "cwd", "timeout_seconds", "files_format", "attachments_format"),
        *("healthcheck", "verbose", "cli_verbose", "keep_temp_files", "keep_output_files"),
    ),
    "mock": ("response",),
    **dict.fromkeys(("openai", "openrouter", "azure", "anthropic", "gemini"), _OF_MODEL),
}
"""The settings that have the same meaning here, by kind."""

_RENAMED: Final = {"max_output_tokens": "max_tokens"}
_REMOVED: Final = ("provider", "name", "container", "install", "use_target", "judge_target")
_OURS: Final = ("depends_on", "cache", "env")
"""Settings of rubric-ci, which AgentV ignores; a mapping as `env` is not one of them."""

_DECIDING: Final = (
    *("environment", "fallback_targets", "transform", "prompts", "env", "thinking_budget"),
    *("trace", "delay", "provider_batching"),
)
"""Settings that change an answer, or which is used, and have no counterpart."""

_SPECS: Final[tuple[tuple[str, str, str, dict[str, str]], ...]] = (
    ("exec:", "cli", "command", {}),
    ("agentv:codex-cli:", "codex-cli", "", {}),
    ("openai:codex:", "codex-sdk", "", {}),
    ("openai:codex-sdk:", "codex-sdk", "", {}),
    ("openai:codex-app-server:", "codex-app-server", "", {}),
    ("openai:codex-desktop:", "codex-app-server", "", {}),
    ("openai:chat:", "openai", "model", {}),
    ("openai:responses:", "openai", "model", {"api_format": "responses"}),
    ("anthropic:messages:", "anthropic", "model", {}),
)
"""How an `id` starts, its kind, the setting that is the rest of it, and other settings."""

_OTHER_TEMPLATE: Final = re.compile(r"(?<!\$)\{\{\s*+env\b")
_PLACEHOLDER: Final = re.compile(r"(?<!\$)\{[A-Z_]+\}")
_DEPLOYMENT: Final = re.compile(r"/openai/deployments/[^/]+$")


class _Written(NamedTuple):
    value: Any
    path: Path


_Settings = dict[str, _Written]


def translate_providers(data: Any) -> Translation:
    found = Translation()
    listed, place = (data, ()) if isinstance(data, list) else (None, ("providers",))
    for key in data if isinstance(data, dict) else ():
        if key == "providers":
            listed = data[key]
        elif key == "targets":
            found.refuse((key,), "AgentV has `providers` in this file, and no `targets`")
        elif key != "$schema" and not str(key).startswith("x-"):
            found.skip((key,), f"`{key}` has no effect: AgentV reads it in config.yaml only")
    found.put(("targets",), [], place)
    if not isinstance(listed, list):
        found.refuse((), "the file has no list of `providers`")
    for index, entry in enumerate(listed if isinstance(listed, list) else ()):
        for settings, where in _entries(found, entry, (*place, index)):
            _provider(found, settings, where)
    return found


def _entries(found: Translation, entry: Any, place: Path) -> Iterator[tuple[_Settings, Path]]:
    """Yield the settings of the providers of an entry: a text, a mapping, or `{id: settings}`."""
    if isinstance(entry, str):
        yield {"id": _Written(entry, place)}, place
    elif not isinstance(entry, dict) or not entry:
        found.refuse(place, "a provider is a text or a mapping")
    elif "id" in entry or entry.keys() & {"label", *_REMOVED}:
        yield _settings(found, entry, place), place
    else:
        for name, options in entry.items():
            where = (*place, name)
            if isinstance(options, dict):
                yield {**_settings(found, options, where), "id": _Written(name, where)}, where
            else:
                found.refuse(where, "the settings of a provider are a mapping")


def _settings(found: Translation, entry: dict[str, Any], place: Path) -> _Settings:
    """Return the settings of an entry; those next to `config` come before those in it."""
    config = entry.get("config")
    inner = config if isinstance(config, dict) else {}
    if config is not None and not isinstance(config, dict):
        found.refuse((*place, "config"), "`config` is a mapping")
    own = {key: _Written(value, (*place, key)) for key, value in entry.items() if key != "config"}
    return {**{k: _Written(v, (*place, "config", k)) for k, v in inner.items()}, **own}


def _provider(found: Translation, settings: _Settings, place: Path) -> None:
    for key in _REMOVED:
        if key in settings:
            found.refuse(settings[key].path, f"AgentV 5 has no `{key}` of a provider")
    ours: Path = ("targets", len(found.data["targets"]))
    found.put(ours, {}, place)
    written = settings.get("id", _Written(None, place))
    if not isinstance(written.value, str) or not written.value.strip():
        found.refuse(written.path, "a provider has an `id`, its kind")
        return
    label = settings.get("label", written)
    found.put((*ours, "name"), label.value or written.value, label.path)
    kind, given = _kind(written.value.strip())
    settings = {**{key: _Written(value, written.path) for key, value in given.items()}, **settings}
    found.put((*ours, "provider"), kind, written.path)
    for key in ("grader_target", "workers"):
        if key in settings:
            found.put((*ours, key), settings[key].value, settings[key].path)
    if kind in _KEYS:
        _options(found, settings, kind, ours)
    elif kind not in AGENTV_AGENTS:
        message = f"the provider `{written.value}`, which is code of AgentV, has no counterpart"
        found.refuse(written.path, f"{message}; a `command` of the kind `cli` has")


def _kind(spec: str) -> tuple[str, dict[str, Any]]:
    """Return the kind of an `id`, and the settings that are part of it."""
    for start, kind, key, given in _SPECS:
        if f"{spec}:".startswith(start):
            return kind, {**given, **({key: spec[len(start) :].strip()} if key else {})}
    kind, _, model = spec.partition(":")
    known = kind in _KEYS or kind in AGENTV_AGENTS
    return (kind, {"model": model} if model else {}) if known else (spec, {})


def _options(found: Translation, settings: _Settings, kind: str, ours: Path) -> None:
    known = ("id", "label", "grader_target", "workers", *_REMOVED, *_KEYS[kind])
    runtime = settings.get("runtime")
    if runtime and runtime.value not in ("host", {"mode": "host"}):
        found.refuse(runtime.path, "only the runtime `host` has a counterpart")
    for key, (value, path) in settings.items():
        if key in _OURS and not isinstance(value, dict):
            found.put((*ours, key), value, path)
        elif key in _DECIDING:
            found.refuse(path, f"`{key}` of a provider has no counterpart")
        elif key in _KEYS[kind]:
            found.put((*ours, _RENAMED.get(key, key)), _with_variables(found, value, path), path)
        elif key not in (*known, "runtime", "$schema") and not str(key).startswith("x-"):
            found.skip(path, f"AgentV ignores `{key}` of the provider `{kind}`")
    target = found.data["targets"][ours[-1]]
    if kind == "mock" and "response" not in target:
        message = "without `response`, AgentV has a default text; here the answer is empty"
        found.skip(settings["id"].path, message)
    if isinstance(target.get("healthcheck"), dict):
        add_healthcheck(found, target["healthcheck"], ours, settings["healthcheck"].path)
    if kind == "openai":
        _openai_target(found, target, settings)


def add_healthcheck(found: Translation, check: dict[str, Any], ours: Path, place: Path) -> None:
    """Replace a health check by ours, which names its type."""
    is_url = "url" in check
    found.refuse_keys(check, ("command", "url", "cwd", "timeout_seconds"), place)
    kept = {each: check[each] for each in ("cwd", "timeout_seconds") if each in check}
    kind = "http" if is_url else "command"
    found.put((*ours, "healthcheck"), {"type": kind, **kept}, place)
    names = {"url": "url"} if is_url else {"command": "command_template"}
    found.copy(check, names, (*ours, "healthcheck"), place)
    if not is_url and _PLACEHOLDER.search(str(check.get("command"))):
        found.refuse((*place, "command"), "a placeholder in a health check has no counterpart")


def _openai_target(found: Translation, target: dict[str, Any], settings: _Settings) -> None:
    """Name the interface that is asked, and end the address as AgentV does."""
    form = target.pop("api_format", "chat")
    if form == "responses" and isinstance(target.get("model"), str):
        target["model"] = f"responses/{target['model']}"
    elif form != "chat":
        message = "`api_format` has no counterpart unless it is `chat`, or `responses` of a `model`"
        found.refuse(settings["api_format"].path, message)
    for key in ("endpoint", "base_url"):
        address = target.get(key)
        if isinstance(address, str) and address and "${{" not in address:
            address = address.strip().rstrip("/")
            whole = address.endswith("/v1") or _DEPLOYMENT.search(address)
            target[key] = address if whole else f"{address}/v1"


def _with_variables(found: Translation, value: Any, path: Path) -> Any:
    """Return a value with variables of the environment as we write them."""
    made = with_environment(value)
    for place, each in nodes(made, path):
        if isinstance(each, str) and _OTHER_TEMPLATE.search(each):
            found.refuse(place, "a template other than `{{ env.NAME }}` has no counterpart")
    return made


_NAME: Final = {"name": "name"}
_ALIASES: Final = ("use_target", "useTarget")
_DEEPEST: Final = 5  # aliases of aliases
_VARIABLE: Final = re.compile(r"\$\{\{\s*(\w+)\s*\}\}")


def matches(data: Any) -> bool:
    """Return True if a target is an alias or has a health check in AgentV's spelling."""
    targets = data.get("targets") if isinstance(data, dict) else None
    return isinstance(targets, list) and any(
        isinstance(each, dict) and (_alias(each) or _is_theirs(each.get("healthcheck")))
        for each in targets
    )


def translate(data: dict[str, Any]) -> Translation:
    found = Translation()
    for key, value in data.items():
        found.put((key,), [] if key == "targets" else value, (key,))
    named: dict[str, int] = {}  # of two of a name the first counts
    for at, each in enumerate(data["targets"]):
        if isinstance(each, dict) and isinstance(each.get("name"), str):
            named.setdefault(each["name"], at)
    for index, each in enumerate(data["targets"]):
        ours: Path = ("targets", index)
        if isinstance(each, dict):
            _target(found, data["targets"], named, index)
        else:
            found.put(ours, each, ours)
    return found


def _target(found: Translation, targets: list[Any], named: Mapping[str, int], index: int) -> None:
    ours: Path = ("targets", index)
    found.put(ours, {}, ours)
    at = _end_of(targets, named, index)
    variable = _VARIABLE.fullmatch(_alias(targets[index if at is None else at]))
    if at is None or variable:
        _without_end(found, targets[index], ours, variable[1] if variable else "")
        return
    own = _NAME.keys() & targets[index].keys()
    for key, value in targets[at].items():
        if key not in own and key not in _ALIASES:
            found.put((*ours, key), value, ("targets", at, key))
    found.copy(targets[index], _NAME, ours, ours)
    if _is_theirs(check := targets[at].get("healthcheck")):
        add_healthcheck(found, check, ours, ("targets", at, "healthcheck"))


def _without_end(found: Translation, target: dict[str, Any], ours: Path, variable: str) -> None:
    """Keep the name of an alias whose target is not known yet, or not at all."""
    name = _alias(target)
    found.copy(target, _NAME, ours, ours)
    place = next((*ours, key) for key in _ALIASES if key in target)
    found.put((*ours, "provider"), NOT_STARTED, place)
    if variable:
        found.put((*ours, ALIAS), variable, place)
        return
    why = f"there is no target `{name}`; name the target itself"
    found.leave(place, f"the alias `{target.get('name')}` is not used: {why}")


def _end_of(targets: list[Any], named: Mapping[str, int], index: int) -> int | None:
    """Return the target at the end of a chain of aliases; None: there is none."""
    for _ in range(_DEEPEST):
        name = _alias(targets[index])
        if not name or _VARIABLE.fullmatch(name):
            return index
        if name not in named:
            return None
        index = named[name]
    return None if _alias(targets[index]) else index


def _alias(target: Mapping[str, Any]) -> str:
    return next((str(target[key]).strip() for key in _ALIASES if target.get(key)), "")


def _is_theirs(check: Any) -> bool:
    return isinstance(check, dict) and "type" not in check and bool({"command", "url"} & {*check})
