"""Rules of targets that a schema cannot express, and settings without effect."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Final, TypeAlias

from rubric_ci.files.validation import http_target_and_literal_rules
from rubric_ci.files.validation.agentv import conflicting_aliases, snake_case, snake_cased
from rubric_ci.files.validation.config_summary import KINDS, WrittenKind
from rubric_ci.files.validation.eval_rules import UNUSED_SETTING, unknown_target
from rubric_ci.files.validation.http_target_and_literal_rules import UNKNOWN_PLACEHOLDER
from rubric_ci.files.validation.model_rules import judge_keys
from rubric_ci.files.validation.provider_rules import agent_meant
from rubric_ci.files.validation.schema import read_schema
from rubric_ci.files.validation.shape_rules import MISSING_KEY
from rubric_ci.models.agents import AGENTS
from rubric_ci.text.suggestions import did_you_mean, known_names, nearest
from rubric_ci.values.agent_names_and_credentials import AGENTV_AGENTS
from rubric_ci.values.model_end_and_parameters import NAMES
from rubric_ci.values.problems import Path, Problem, Rule, list_at, mapping_at, mappings

PLACEHOLDERS: Final = (
    *("PROMPT", "PROMPT_FILE", "GUIDELINES", "EVAL_ID", "EVAL_FILE", "ROOT", "ATTEMPT", "FILES"),
    "OUTPUT_FILE",
)

OF_RUNNER: Final = {"command_template": ("RESULTS", "ONLY"), "only": ("CASE_REGEX", "CASE_IDS")}
"""The placeholders of a runner's texts."""

Names: TypeAlias = Callable[[], frozenset[str]]
"""The names of targets in other files, read only when they are needed."""

_PLACEHOLDER = re.compile(r"(?<![$\w{])\{([A-Z_]+)\}")
_IN_SMALL_LETTERS = re.compile(rf"(?<![$\w{{]){{({'|'.join(PLACEHOLDERS)})}}".lower())
_IN_TWO_BRACES = re.compile(r"(?<!\$)\{\{\s*([A-Za-z_]\w*)\s*\}\}")
_MEANT: Final = {"input": "PROMPT", "question": "PROMPT", "prompt": "PROMPT", "id": "EVAL_ID"}
_RETRIES: Final = (
    "max_retries",
    *("retry_initial_delay_ms", "retry_max_delay_ms", "retry_backoff_factor", "retry_status_codes"),
)
_OWN_RETRIES = "model requests are retried up to 4 times, commands never"
_WITHOUT_EFFECT: Final = {
    "batch_requests": "RUBRIC_CI_BATCH sends the requests of `rubric-ci run` to models in batches",
    "provider_batching": "a command is started for each case; keep the answers of one process in a "
    "file for `provider: recorded`",
    **dict.fromkeys(_RETRIES, _OWN_RETRIES),
    **dict.fromkeys(
        ("verbose", "cli_verbose"), "a command's output is part of the error message when it fails"
    ),
    **dict.fromkeys(("keep_temp_files", "keep_output_files"), "the answer is in the report"),
}


TARGET_NAME_DUPLICATE: Final = Rule(
    id="target-name-duplicate",
    meaning="Eval files refer to targets by name, so names are unique.",
    hint="give every target its own name",
    bad="targets:\n  - {name: default, model: openai/a}\n  - {name: default, model: openai/b}\n",
    good="targets:\n  - {name: default, model: openai/a}\n  - {name: other, model: openai/b}\n",
)
JUDGE_TARGET: Final = Rule(
    id="judge-target",
    meaning="Only a model target can be a judge.",
    hint="name a target with `model`",
    bad=(
        "targets:\n  - {name: default, model: openai/a, judge_target: agent}\n"
        "  - {name: agent, provider: cli, command_template: 'agent {PROMPT}'}\n"
    ),
    good=(
        "targets:\n  - {name: default, model: openai/a, judge_target: strict}\n"
        "  - {name: strict, model: openai/b}\n"
    ),
)
AGENT_OPTION: Final = Rule(
    id="agent-option",
    meaning="An agent program has an option in its own way, or does not have it.",
    hint="remove it",
    bad="targets: [{name: default, provider: codex, max_turns: 30}]\n",
    good="targets: [{name: default, provider: claude-code, max_turns: 30}]\n",
)


def target_rules(targets: Any, others: Names | None, *, agentv: bool) -> Iterator[Problem]:
    """Yield the problems of targets; without `others`, judges are not looked up."""
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
            first: Path = ("targets", targets.index(own[target["name"]]), "name")
            yield Problem(TARGET_NAME_DUPLICATE, (*path, "name"), message, first=first)
        yield from conflicting_aliases(target, path)
        yield from _provider_problems(target, path, agentv=agentv)
        yield from _judge_references(target, path, own, known)


def named_targets(data: Mapping[str, Any], others: Names) -> Iterator[Problem]:
    """Yield names in `compare` and `gate` that no target has; `others` are of other files."""
    own = frozenset(str(target.get("name")) for _, target in mappings(data, "targets"))
    gate = mapping_at(data, "gate")
    named: list[tuple[Path, Any]]
    named = [(("compare", n), name) for n, name in enumerate(list_at(data, "compare"))]
    named += [(("gate", "targets", n), name) for n, name in enumerate(list_at(gate, "targets"))]
    for path, name in [*named, (("gate", "better_than"), gate.get("better_than"))]:
        if isinstance(name, str) and name not in (known := own | others()):
            yield unknown_target(name, path, known)


def is_idle(key: str) -> bool:
    """Return True for a setting of other tools that has no effect on any target."""
    return bool(_why_idle(snake_case(key)))


def _why_idle(key: str) -> str:
    """Return why a setting has no effect; empty: it may have one."""
    if key in {*judge_keys(), "panel", "auth"}:
        return "it is a setting of `judge` in rubric-ci.yaml"
    return _WITHOUT_EFFECT.get(key, "")


def is_model(target: dict[str, Any]) -> bool:
    """Return True if a target is a model, as far as the file shows."""
    provider = target.get("provider", "")
    return not isinstance(provider, str) or provider.lower() not in {*KINDS, *AGENTV_AGENTS}


def _provider_problems(target: dict[str, Any], path: Path, *, agentv: bool) -> Iterator[Problem]:
    provider = target.get("provider")
    kind = provider.lower() if isinstance(provider, str) else ""
    if kind == "cli":
        yield from _placeholders(target, path)
    if kind in AGENTS and not agentv:
        for key, what in AGENTS[kind].refuses.items():
            if key in target:
                message = f"`{kind}` refuses `{key}`: {what}"
                yield Problem(AGENT_OPTION, (*path, key), message, at_key=True)
    if kind == "runner":
        yield from _runner_problems(target, path)
    if kind == "http":
        yield from http_target_and_literal_rules.service_problems(target, path)
    if kind in KINDS and not (agentv and kind in AGENTV_AGENTS):
        yield from _unused(target, path, KINDS[kind])
    elif kind not in AGENTV_AGENTS:
        yield from _missing_model(target, path, kind, checked=not agentv)
        for key, value in target.items():
            if is_idle(key) and value is not False:
                yield _idle(key, path, "a model", _why_idle(snake_case(key)))


def _unused(target: dict[str, Any], path: Path, kind: WrittenKind) -> Iterator[Problem]:
    known = (*kind.shared, *read_schema("config")["$defs"][kind.definition]["properties"])
    free = [key for key in known if key not in snake_cased(target)]
    for key, value in target.items():
        meant = snake_case(key)
        if meant in known or key.startswith("x-") or (is_idle(key) and value is False):
            continue
        similar = "" if is_idle(key) else nearest(meant, free)
        hint = _why_idle(meant) or did_you_mean(similar)
        yield _idle(key, path, kind.what, hint, similar)


def _idle(key: str, path: Path, kind: str, hint: str, meant: str = "") -> Problem:
    message = f"`{key}` has no effect on {kind}"
    return Problem(UNUSED_SETTING, (*path, key), message, hint, at_key=True, meant=meant)


def _missing_model(
    target: dict[str, Any], path: Path, kind: str, *, checked: bool
) -> Iterator[Problem]:
    """Yield that a provider has no model; a misspelt one, where those are checked, says more."""
    settings = target.get("settings")
    misspelt = checked and agent_meant(kind)
    if kind and not misspelt and not any(snake_case(key) in NAMES for key in target):
        inside = isinstance(settings, dict) and any(snake_case(key) in NAMES for key in settings)
        hint = "move it up from `settings`" if inside else ""
        message = "the target has no `model`"
        yield Problem(MISSING_KEY, path, message, hint, missing=("model",))


def _placeholders(target: dict[str, Any], path: Path) -> Iterator[Problem]:
    for key in ("command_template", "commandTemplate", "command"):
        template = target.get(key)
        if not isinstance(template, str):
            continue
        for name in _IN_SMALL_LETTERS.findall(template):
            message, hint = f"`{{{name}}}` is not replaced", did_you_mean(f"{{{name.upper()}}}")
            yield Problem(UNKNOWN_PLACEHOLDER, (*path, key), message, hint, part=f"{{{name}}}")
        for found in _IN_TWO_BRACES.finditer(template):
            meant = _MEANT.get(found[1].lower(), found[1].upper())
            hint = _placeholder_hint(meant) if meant not in PLACEHOLDERS else f"write `{{{meant}}}`"
            message = f"`{found[0]}` is not replaced in a command"
            yield Problem(UNKNOWN_PLACEHOLDER, (*path, key), message, hint, part=found[0])
        for name in _PLACEHOLDER.findall(template):
            if name not in PLACEHOLDERS:
                message = f"`{{{name}}}` is not a known placeholder"
                hint, part = _placeholder_hint(name), f"{{{name}}}"
                yield Problem(UNKNOWN_PLACEHOLDER, (*path, key), message, hint, part=part)


def _runner_problems(target: dict[str, Any], path: Path) -> Iterator[Problem]:
    """Yield unknown placeholders, and a command or a choice of cases that lacks its own."""
    for key, known in OF_RUNNER.items():
        template = target.get(key)
        if not isinstance(template, str):
            continue
        found = _PLACEHOLDER.findall(template)
        listed = known_names(f"{{{name}}}" for name in known)
        for name in found:
            if name not in known:
                message = f"`{{{name}}}` is not a known placeholder of `{key}`"
                yield Problem(
                    UNKNOWN_PLACEHOLDER, (*path, key), message, listed, part=f"{{{name}}}"
                )
        if not set(found) & {*known} - {"ONLY"}:
            message = f"`{key}` holds no placeholder"
            yield Problem(UNKNOWN_PLACEHOLDER, (*path, key), message, listed)


def _placeholder_hint(name: str) -> str:
    close = nearest(name, PLACEHOLDERS)
    if close:
        return did_you_mean(f"{{{close}}}")
    return known_names(f"{{{placeholder}}}" for placeholder in PLACEHOLDERS)


def _judge_references(
    target: dict[str, Any], path: Path, own: Mapping[str, Any], known: Names | None
) -> Iterator[Problem]:
    for key in ("judge_target", "judgeTarget", "grader_target", "graderTarget"):
        name = target.get(key)
        if not isinstance(name, str):
            continue
        if name in own and not is_model(own[name]):
            yield Problem(JUDGE_TARGET, (*path, key), f"`{name}` is not a model and cannot judge")
        elif known is not None and name not in own and name not in known():
            yield unknown_target(name, (*path, key), known())


def _has_name(target: dict[str, Any]) -> bool:
    return isinstance(target.get("name"), str)
