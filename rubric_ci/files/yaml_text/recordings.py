"""Lines of recorded answers: one `{"id", "answer"}` each, with `file` where ids repeat."""

import json
from functools import lru_cache
from posixpath import normpath
from typing import Any, Final, NamedTuple

from rubric_ci.text.suggestions import suggest

MEASURES: Final = frozenset(
    {"output_messages", "trace_summary", "duration_ms", "cost_usd", "token_usage"}
)
"""The keys that a recording, or the output of a command, may have next to the answer."""

_KEYS: Final = MEASURES | {"id", "file", "answer"}


class Recording(NamedTuple):
    """The answer of one case; the file is empty where the line names none."""

    file: str
    id: str
    value: dict[str, Any]


def read_recording(line: str) -> Recording:
    """Return the recording of a line; raises ValueError with the reason."""
    value: Any = _object(line)
    unknown = sorted(value.keys() - _KEYS)
    if unknown:
        raise ValueError(f"unknown key `{unknown[0]}`; {suggest(unknown[0], _KEYS)}")
    identity, file = value.get("id"), value.get("file", "")
    if not isinstance(identity, str) or not identity:
        raise ValueError("`id` must be a non-empty string")
    if not isinstance(file, str):
        raise ValueError("`file` must be a string")  # noqa: TRY004 - a line is a value - one error for all faults
    if value.get("answer") is None:
        raise ValueError("`answer` is missing")
    return Recording(normalised(file), identity, value)


@lru_cache(maxsize=1_000)
def normalised(file: str) -> str:
    """Return the name of a file as recordings are compared."""
    return normpath(file) if file else ""


def _object(line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except RecursionError:
        raise ValueError("not JSON: nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at column {error.colno}") from None
    if not isinstance(value, dict):
        raise ValueError("must be a JSON object")  # noqa: TRY004 - a line is a value
    return value
