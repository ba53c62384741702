"""The type of a value that JSON can hold."""

from typing import Any, TypeAlias

JSON: TypeAlias = Any
"""A JSON value: None, bool, int, float, str, list or dict with string keys."""
