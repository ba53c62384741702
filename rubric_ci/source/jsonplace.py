"""Where a value stands in a line of valid JSON: read again, and only when something is wrong."""

import re
from json import JSONDecoder
from json.decoder import scanstring  # type: ignore[attr-defined] # has no stub

from rubric_ci.source.problem import Path

_WHITE = re.compile(r"[ \t\r\n]*")
_VALUE = JSONDecoder().raw_decode


def offset_of(line: str, path: Path, *, at_key: bool = False) -> tuple[int, int]:
    """Return the start and end of the value at a path, or its key; of a missing one, its parent."""
    start = _skip(line, 0)
    key = (start, start + 1)
    for step in path:
        found = _member(line, start, step)
        if found is None:
            return start, start + 1
        key, start = found
    if at_key and path:
        return key
    return (start, start + 1) if line[start] in "{[" else (start, _end(line, start))


def extent_of(line: str, path: Path, *, at_key: bool = False) -> tuple[int, int]:
    """Return the start and end of the whole value at a path that leads somewhere, or its key."""
    start, end = offset_of(line, path, at_key=at_key)
    return (start, end) if at_key else (start, _end(line, start))


def _member(line: str, start: int, step: str | int) -> tuple[tuple[int, int], int] | None:
    wanted = "{" if isinstance(step, str) else "["
    if line[start] != wanted:
        return None
    position, index = _skip(line, start + 1), 0
    while line[position] not in "}]":
        key, name = (position, position + 1), None
        if wanted == "{":
            name, end = scanstring(line, position + 1)
            key = (position, end)
            position = _skip(line, _skip(line, end) + 1)
        if step == (index if name is None else name):
            return key, position
        position = _skip(line, _end(line, position))
        if line[position] == ",":
            position = _skip(line, position + 1)
        index += 1
    return None


def _skip(line: str, position: int) -> int:
    found = _WHITE.match(line, position)
    return found.end() if found else position


def _end(line: str, position: int) -> int:
    return _VALUE(line, position)[1]
