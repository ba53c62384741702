"""Positions of values in a line of valid JSON, computed only for problems and fixes."""

import re
from collections.abc import Iterator
from json import JSONDecoder
from json.decoder import scanstring  # type: ignore[attr-defined] # has no stub
from typing import TypeAlias

from rubric_ci.values.problems import Path

_Members: TypeAlias = dict[str | int, tuple[int, int]]

_WHITE = re.compile(r"[ \t\r\n]*")
_VALUE = JSONDecoder().raw_decode


class JsonPositions:
    """The positions in one line; the members of a list or object are read once."""

    def __init__(self, line: str) -> None:
        self.line = line
        self._read: dict[int, _Members] = {}

    def offset_of(self, path: Path, *, at_key: bool = False) -> tuple[int, int]:
        """Return the start and end of the value at a path, or its key; else of its parent."""
        line, start = self.line, _skip(self.line, 0)
        key = (start, start + 1)
        for step in path:
            members = self._members(start)
            if step not in members:
                return start, start + 1
            first, start = members[step]
            key = (first, _key_end(line, first))
        if at_key and path:
            return key
        return (start, start + 1) if line[start] in "{[" else (start, _end(line, start))

    def extent_of(self, path: Path, *, at_key: bool = False) -> tuple[int, int]:
        """Return the start and end of the whole value at a path that leads somewhere."""
        start, end = self.offset_of(path, at_key=at_key)
        return (start, end) if at_key else (start, _end(self.line, start))

    def _members(self, start: int) -> _Members:
        if start not in self._read:
            found: _Members = {}
            for step, place in _members(self.line, start):
                found.setdefault(step, place)
            self._read[start] = found
        return self._read[start]


def _members(line: str, start: int) -> Iterator[tuple[str | int, tuple[int, int]]]:
    """Yield each member of a list or object: its step, and the starts of its key and its value."""
    if line[start] not in "{[":
        return
    position, index = _skip(line, start + 1), 0
    while line[position] not in "}]":
        step: str | int = index
        key = position
        if line[start] == "{":
            step, end = scanstring(line, position + 1)
            position = _skip(line, _skip(line, end) + 1)
        yield step, (key, position)
        position = _skip(line, _end(line, position))
        if line[position] == ",":
            position = _skip(line, position + 1)
        index += 1


def _key_end(line: str, start: int) -> int:
    """Return the end of a key; an entry of a list has no key, so its first character is marked."""
    return int(scanstring(line, start + 1)[1]) if line[start] == '"' else start + 1


def _skip(line: str, position: int) -> int:
    found = _WHITE.match(line, position)
    return found.end() if found else position


def _end(line: str, position: int) -> int:
    return _VALUE(line, position)[1]
