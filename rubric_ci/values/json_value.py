"""Values that JSON can hold: their equality, and paths into them.

A path is `supplier.name`, `lines[0].amount`, or the JSON Pointer `/lines/0`.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias, TypeGuard

from rubric_ci.values.problems import Path

JSON: TypeAlias = Any
"""A JSON value: None, bool, int, float, str, list or dict with string keys."""

MAX_DEPTH: Final = 100
"""Levels of lists and objects in a value; the reader of a report takes 200, its own included."""

_STEP = re.compile(r"[^.\[\]]+")


class Missing:
    """There is no value."""


def parsed(text: str | bytes) -> JSON:
    """Return the value of a JSON text; None for another text."""
    import json  # `validate` reads most files without it

    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def equal(one: JSON, other: JSON) -> bool:
    """Return True if two JSON values are equal: `true` is not 1, but 1.0 is."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(equal, one, other))
    return bool(one == other)


def is_number(value: JSON) -> TypeGuard[float]:
    """Return True for a number, which `true` is not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def nodes(value: JSON, path: Path = ()) -> Iterator[tuple[Path, JSON]]:
    """Yield a value, and each value in it at any depth, with its path."""
    yield path, value
    inner = value.items() if isinstance(value, dict) else ()
    for key, each in enumerate(value) if isinstance(value, list) else inner:
        yield from nodes(each, (*path, key))


def with_texts(value: JSON, change: Callable[[str], JSON]) -> JSON:
    """Return a value with what a function makes of each text in it; keys stay."""
    if isinstance(value, dict):
        return {key: with_texts(each, change) for key, each in value.items()}
    if isinstance(value, list):
        return [with_texts(each, change) for each in value]
    return change(value) if isinstance(value, str) else value


def depth(value: JSON) -> int:
    """Return how many levels a value has; 1 for a text or a number."""
    deepest, queue = 0, [(value, 1)]
    while queue:
        item, level = queue.pop()
        deepest = max(deepest, level)
        if isinstance(item, dict):
            queue.extend((child, level + 1) for child in item.values())
        elif isinstance(item, list):
            queue.extend((child, level + 1) for child in item)
    return deepest


def value_at(value: Any, path: str) -> Any | Missing:
    """Return the value at a path of a JSON value; a path that starts with `/` is a JSON Pointer."""
    for step in _steps(path):
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and _is_index(step) and int(step) < len(value):
            value = value[int(step)]
        else:
            return Missing()
    return value


def _steps(path: str) -> list[str]:
    if not path.startswith("/"):
        return _STEP.findall(path)
    return [step.replace("~1", "/").replace("~0", "~") for step in path[1:].split("/")]


def _is_index(step: str) -> bool:
    """Return True for digits that a list may have as an index; int() rejects thousands of them."""
    return step.isdecimal() and len(step) < 16
