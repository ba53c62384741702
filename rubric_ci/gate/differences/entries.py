"""Directions of the entries of files: waivers, comments that turn rules off, tests, recordings."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from rubric_ci.gate.differences.move import Move, Told
from rubric_ci.text.numbers import plural
from rubric_ci.values.walk import ABSENT


class Entry(NamedTuple):
    """A part of a file that is compared, and how a change names it."""

    file: str
    about: str
    line: int  # 0: the first one that is new
    value: Any


Entries: TypeAlias = Mapping[str, Mapping[str, Entry]]
"""The entries of one state, by the first step of their rows and by what makes two the same."""


def _values(move: Move, absent: Any) -> Iterator[Any]:
    return (absent if each is ABSENT else each.value for each in (move.before, move.after))


def waived(move: Move) -> Iterator[Told]:
    before, after = (f"waived until {day}" if day else "" for day in _values(move, ""))
    if before != after:
        yield "weaker" if after > before else "stronger", before, after


def ignored(move: Move) -> Iterator[Told]:
    then, now = _values(move, 0)
    before, after = (f"ignored in {plural(n, 'comment')}" if n else "" for n in (then, now))
    if before != after:
        yield "weaker" if now > then else "stronger", before, after


def lost(move: Move) -> Iterator[Told]:
    if move.after is ABSENT:
        yield "changed", move.before.value, ""


def edited_lines(move: Move) -> Iterator[Told]:
    """Yield the numbers of lines that are new and gone; their ends are compared as one."""
    then, now = map(lines_of, _values(move, ""))
    if then == now:
        return
    known = set(then)
    new, gone = len([line for line in now if line not in known]), len(known - set(now))
    counts = f"{plural(len(now), 'line')}: {new:,} new or edited, {gone:,} of the base gone"
    yield "changed", plural(len(then), "line"), counts


def line_of(move: Move) -> int:
    """Return the line of an entry; of a text, the first line that is new, else 1."""
    entry = move.before if move.after is ABSENT else move.after
    if entry.line:
        return int(entry.line)
    then, now = map(lines_of, _values(move, ""))
    known = set(then)
    return next((at for at, line in enumerate(now, 1) if line not in known), 1)


def lines_of(text: str) -> list[str]:
    lines = text.replace("\r\n", "\n").split("\n")
    return lines if lines[-1] else lines[:-1]
