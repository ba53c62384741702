"""Paths into JSON values: `supplier.name`, `lines[0].amount`, or the JSON Pointer `/lines/0`."""

import re
from typing import Any

from rubric_ci.model.dataclass import dataclass

_STEP = re.compile(r"[^.\[\]]+")


@dataclass(frozen=True, slots=True)
class Missing:
    """There is no value."""


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
