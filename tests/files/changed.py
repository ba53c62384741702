"""Data with another value at one place: what is beside the path to it is shared, not copied."""

from collections.abc import Sequence
from typing import Any


def changed(data: Any, path: Sequence[Any], value: Any) -> Any:
    """Return the data with a value at a path; `...` removes what is there."""
    if not path:
        return value
    step, *rest = path
    made = data.copy()
    if value is ... and not rest:
        del made[step]
    else:
        made[step] = changed(data[step], rest, value)
    return made
