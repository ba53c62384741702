"""Recognise JSON Lines of cases by their first line.

NOTE: imported late; most searches meet no JSON Lines.
"""

import json
import re
from pathlib import Path
from typing import Final

from rubric_ci.errors import CannotReadFile
from rubric_ci.system import confined

_HOLDS_ID: Final = rb"\"id\"\s*+:"
_HOLDS_INPUT: Final = rb"\"input(?:_messages)?\"\s*+:"
_INPUTS: Final = frozenset(("input", "input_messages"))
_MISSPELT_INPUTS: Final = frozenset(("inputs", "input_message", "prompt", "question", "messages"))


def holds_cases(data: bytes) -> bool:
    """Return True for a case, and for broken JSON that looks like one: its error is reported."""
    line = _first_line(data)
    keys = _keys(line)
    if keys is None:
        return bool(re.search(_HOLDS_ID, line) and re.search(_HOLDS_INPUT, line))
    return "id" in keys and bool(keys & _INPUTS)


def may_hold_cases(path: Path) -> bool:
    """Return True unless the first line has none of the keys of an input, misspelt or not."""
    try:
        keys = _keys(_first_line(confined.read_start(path)))
    except CannotReadFile:
        return True
    return keys is None or bool(keys & (_INPUTS | _MISSPELT_INPUTS))


def _first_line(data: bytes) -> bytes:
    lines = data.removeprefix(b"\xef\xbb\xbf").splitlines()
    return next((line for line in lines if line.strip()), b"")


def _keys(line: bytes) -> frozenset[str] | None:
    """Return the keys of an object; None: the line is not an object in JSON."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return frozenset(value) if isinstance(value, dict) else None
