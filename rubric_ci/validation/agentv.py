"""Settings of judges and targets in camelCase, which some tools write, as the names they mean."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from rubric_ci.validation.shape_rules import ALIAS_CONFLICT
from rubric_ci.yaml_text.problems import Path, Problem

OF_HEALTH_CHECK: Final = ("command_template", "timeout_seconds")

_CAMEL_CASE = re.compile(r"[a-z][a-z0-9]*(?:[A-Z][a-z0-9]*)+")


def snake_case(key: str) -> str:
    """Return the name that a key in camelCase means; others mean themselves."""
    if not _CAMEL_CASE.fullmatch(key):
        return key
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key).lower()


def snake_cased(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a mapping with the names that its keys mean."""
    return {snake_case(key): item for key, item in data.items()}


def normalise_keys(data: Any) -> Any:
    """Return a configuration with the names that the keys of its judge and targets mean."""
    if not isinstance(data, dict):
        return data
    made = dict(data)
    if isinstance(data.get("judge"), dict):
        made["judge"] = snake_cased(data["judge"])
    if isinstance(data.get("targets"), list):
        made["targets"] = [_target(target) for target in data["targets"]]
    return made


def to_original_key(problem: Problem, data: Any) -> Problem:
    """Return a problem of respelt data with the path that leads to it in the data as written."""
    return problem._replace(path=to_original_path(problem.path, data))


def to_original_path(path: Path, data: Any) -> Path:
    """Return the path in data as written that leads where a path leads in respelt data."""
    return tuple(_steps(path, data))


def conflicting_aliases(owner: Mapping[str, Any], path: Path) -> Iterator[Problem]:
    """Yield keys in camelCase beside the names that they mean."""
    for key in owner:
        if snake_case(key) != key and snake_case(key) in owner:
            message = f"`{key}` and `{snake_case(key)}` say the same; give one of them"
            yield Problem(ALIAS_CONFLICT, (*path, key), message, at_key=True)


def _target(target: Any) -> Any:
    if not isinstance(target, dict):
        return target
    made = snake_cased(target)
    asked = made.get("healthcheck")
    if isinstance(asked, dict):
        known = {key for key in asked if snake_case(key) in OF_HEALTH_CHECK}
        made["healthcheck"] = {snake_case(k) if k in known else k: v for k, v in asked.items()}
    return made


def _steps(path: Path, data: Any) -> Iterator[str | int]:
    for step in path:
        key = step
        if isinstance(data, dict) and isinstance(step, str) and step not in data:
            key = next(_meaning(step, data), step)
        yield key
        data = _child(data, key)


def _meaning(name: str, keys: Iterable[str]) -> Iterator[str]:
    yield from (key for key in keys if snake_case(key) == name)


def _child(data: Any, key: str | int) -> Any:
    if isinstance(data, dict):
        return data.get(str(key))
    inside = isinstance(data, list) and isinstance(key, int) and key < len(data)
    return data[key] if inside else None
