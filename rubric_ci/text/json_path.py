"""Paths into JSON values, such as `supplier.name` and `lines[0].amount`."""

import re
from dataclasses import dataclass
from typing import Any

_STEP = re.compile(r"[^.\[\]]+")


@dataclass(frozen=True, slots=True)
class Missing:
    """There is no value."""


def value_at(value: Any, path: str) -> Any | Missing:
    """Return the value at a path of a JSON value."""
    for step in _STEP.findall(path):
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and _is_index(step) and int(step) < len(value):
            value = value[int(step)]
        else:
            return Missing()
    return value


def _is_index(step: str) -> bool:
    """Return True for digits that a list may have as an index; int() rejects thousands of them."""
    return step.isdecimal() and len(step) < 16
