"""Values that JSON can hold, and their equality."""

from typing import Any, TypeAlias

JSON: TypeAlias = Any
"""A JSON value: None, bool, int, float, str, list or dict with string keys."""


def equal(one: JSON, other: JSON) -> bool:
    """Return True if two JSON values are equal: `true` is not 1, but 1.0 is."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(equal, one, other))
    return bool(one == other)
