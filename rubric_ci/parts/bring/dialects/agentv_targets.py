"""Targets of AgentV 2.7 to 4, `.agentv/targets.yaml`: aliases, and health checks in their spelling.

An alias (`use_target`) is the target that it names, under its own name; a variable names it when
cases are run. Files without either are ours already.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from rubric_ci.files.yaml_text.translation import Translation
from rubric_ci.parts.bring.dialects.agentv_providers import add_healthcheck
from rubric_ci.values.model_facts import ALIAS, NOT_STARTED
from rubric_ci.values.problems import Path

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
    """Return the file with the target that each alias names in its place."""
    found = Translation()
    for key, value in data.items():
        found.put((key,), [] if key == "targets" else value, (key,))
    named = {each["name"]: at for at, each in _mappings(data) if isinstance(each.get("name"), str)}
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
    own = {"name"} & targets[index].keys()
    for key, value in targets[at].items():
        if key not in own and key not in _ALIASES:
            found.put((*ours, key), value, ("targets", at, key))
    for key in own:
        found.put((*ours, key), targets[index][key], (*ours, key))
    if _is_theirs(check := targets[at].get("healthcheck")):
        add_healthcheck(found, check, ours, ("targets", at, "healthcheck"))


def _without_end(found: Translation, target: dict[str, Any], ours: Path, variable: str) -> None:
    """Keep the name of an alias whose target is not known yet, or not at all."""
    name = _alias(target)
    for key in {"name"} & target.keys():
        found.put((*ours, key), target[key], (*ours, key))
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


def _mappings(data: dict[str, Any]) -> list[tuple[int, dict[str, Any]]]:
    pairs = [(at, each) for at, each in enumerate(data["targets"]) if isinstance(each, dict)]
    return list(reversed(pairs))  # of two of a name the first counts
