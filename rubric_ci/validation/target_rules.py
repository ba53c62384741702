"""What is wrong with targets: what no schema can say of them, and what has no effect here."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Final, TypeAlias

from rubric_ci.text.suggestions import did_you_mean, meant_or_known
from rubric_ci.validation.agentv import conflicting_aliases, snake_case, snake_cased
from rubric_ci.validation.config_summary import AGENTS, JUDGE_KEYS
from rubric_ci.yaml_text.problems import Path, Problem

PLACEHOLDERS: Final = ("PROMPT", "GUIDELINES", "EVAL_ID", "ATTEMPT", "FILES", "OUTPUT_FILE")

Names: TypeAlias = Callable[[], frozenset[str]]
"""The names of targets in other files, looked for only where they are needed."""

_PLACEHOLDER = re.compile(r"(?<![$\w{])\{([A-Z_]+)\}")
_SHARED = ("name", "provider", "judge_target", "grader_target", "depends_on")
_COMMAND = (
    *_SHARED,
    *("command_template", "command", "cwd", "env", "healthcheck", "timeout_seconds"),
    *("concurrency", "workers", "files_format", "attachments_format"),
)
_OF_KIND: Final = {
    "cli": ("a command", _COMMAND),
    "recorded": ("recorded answers", (*_SHARED, "answers")),
    "mock": ("a fixed answer", (*_SHARED, "response")),
}
NAMES: Final = ("model", "deployment", "deployment_name", "variant")
_RETRIES: Final = (
    "max_retries",
    *("retry_initial_delay_ms", "retry_max_delay_ms", "retry_backoff_factor", "retry_status_codes"),
)
_ONE_BY_ONE = "each case is asked for by itself, so let the command answer one"
_OWN_RETRIES = "a request to a model is repeated up to 4 times, a command never"
_WITHOUT_EFFECT: Final = {
    **dict.fromkeys(("provider_batching", "batch_requests"), _ONE_BY_ONE),
    **dict.fromkeys(_RETRIES, _OWN_RETRIES),
    **dict.fromkeys(
        ("verbose", "cli_verbose"), "what a command says is in the reason of a failure"
    ),
    **dict.fromkeys(("keep_temp_files", "keep_output_files"), "the answer is in the report"),
    **dict.fromkeys(JUDGE_KEYS, "it is a setting of `judge` in rubric-ci.yaml"),
}


def target_rules(targets: Any, others: Names | None) -> Iterator[Problem]:
    """Yield what is wrong; without `others`, nobody knows which judges there are."""
    if not isinstance(targets, list):
        return
    own = {t["name"]: t for t in reversed(targets) if isinstance(t, dict) and _has_name(t)}
    known = cache(lambda: frozenset(own).union(others())) if others else None
    for index, target in enumerate(targets):
        if not isinstance(target, dict):
            continue
        path: Path = ("targets", index)
        if _has_name(target) and own[target["name"]] is not target:
            message = f"the name `{target['name']}` is taken by an earlier target"
            yield Problem("target-name-duplicate", (*path, "name"), message)
        yield from conflicting_aliases(target, path)
        yield from _of_provider(target, path)
        yield from _judged(target, path, own, known)


def is_idle(key: str) -> bool:
    """Tell whether a setting that other tools have does nothing here, whatever the target."""
    return snake_case(key) in _WITHOUT_EFFECT


def is_model(target: dict[str, Any]) -> bool:
    """Tell whether a target is asked through a model call, as far as it can be told."""
    provider = target.get("provider", "")
    return not isinstance(provider, str) or provider.lower() not in {*_OF_KIND, *AGENTS}


def _of_provider(target: dict[str, Any], path: Path) -> Iterator[Problem]:
    provider = target.get("provider")
    kind = provider.lower() if isinstance(provider, str) else ""
    if kind == "cli":
        yield from _placeholders(target, path)
    if kind in _OF_KIND:
        yield from _unused(target, path, *_OF_KIND[kind])
    elif kind not in AGENTS:
        yield from _unnamed(target, path, kind)
        for key, value in target.items():
            if is_idle(key) and value is not False:
                yield _idle(key, path, "a model", _WITHOUT_EFFECT[snake_case(key)])


def _unused(
    target: dict[str, Any], path: Path, what: str, known: tuple[str, ...]
) -> Iterator[Problem]:
    free = [key for key in known if key not in snake_cased(target)]
    for key, value in target.items():
        meant = snake_case(key)
        if meant in known or key.startswith("x-") or (is_idle(key) and value is False):
            continue
        yield _idle(key, path, what, _WITHOUT_EFFECT.get(meant) or did_you_mean(meant, free))


def _idle(key: str, path: Path, what: str, hint: str) -> Problem:
    message = f"`{key}` has no effect on {what}"
    return Problem("unused-setting", (*path, key), message, hint, at_key=True)


def _unnamed(target: dict[str, Any], path: Path, kind: str) -> Iterator[Problem]:
    settings = target.get("settings")
    if kind and not any(snake_case(key) in NAMES for key in target):
        inside = isinstance(settings, dict) and any(snake_case(key) in NAMES for key in settings)
        hint = "move it up from `settings`" if inside else ""
        yield Problem("missing-key", path, "the target has no `model`", hint)


def _placeholders(target: dict[str, Any], path: Path) -> Iterator[Problem]:
    for key in ("command_template", "commandTemplate", "command"):
        template = target.get(key)
        for name in _PLACEHOLDER.findall(template) if isinstance(template, str) else ():
            if name not in PLACEHOLDERS:
                message = f"`{{{name}}}` is not filled in"
                known = ", ".join(f"{{{placeholder}}}" for placeholder in PLACEHOLDERS)
                hint = _placeholder_like(name) or f"known are {known}"
                part = f"{{{name}}}"
                yield Problem("unknown-placeholder", (*path, key), message, hint, part=part)


def _placeholder_like(name: str) -> str:
    hint = did_you_mean(name, [known.lower() for known in PLACEHOLDERS])
    return re.sub("`(.*)`", lambda found: f"`{{{found[1].upper()}}}`", hint)


def _judged(
    target: dict[str, Any], path: Path, own: Mapping[str, Any], known: Names | None
) -> Iterator[Problem]:
    for key in ("judge_target", "judgeTarget", "grader_target", "graderTarget"):
        name = target.get(key)
        if not isinstance(name, str):
            continue
        if name in own and not is_model(own[name]):
            yield Problem("judge-target", (*path, key), f"`{name}` is no model and cannot judge")
        elif known is not None and name not in own and name not in known():
            message = f"no target is called `{name}`"
            yield Problem("unknown-target", (*path, key), message, meant_or_known(name, known()))


def _has_name(target: dict[str, Any]) -> bool:
    return isinstance(target.get("name"), str)
