"""The keys of a person who marks: one for a checklist criterion, a number and Enter for others."""

from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias

import click

from rubric_ci.judging.measuring.corpus import allows
from rubric_ci.model.rubric import CANNOT_ASSESS, Check, Criterion, MarkValue

Choice: TypeAlias = MarkValue | Literal["skip", "back", "quit"]

_PLAIN_KEYS: Mapping[str, Choice] = {
    "c": CANNOT_ASSESS,
    "s": "skip",
    "b": "back",
    "q": "quit",
}
_CHECK_KEYS: Mapping[str, Choice] = {"y": True, "n": False}
_ESCAPES = ("\x1b", "\x00", "\xe0")  # what arrows and function keys begin with
_ENTER, _ERASE = ("\r", "\n"), ("\x7f", "\b")


def choose(criterion: Criterion, keys: Iterator[str]) -> Choice:
    """Read keys up to one that means something for this criterion."""
    if isinstance(criterion, Check):
        return _one({**_PLAIN_KEYS, **_CHECK_KEYS}, keys)
    return _typed(criterion, keys)


def pressed() -> Iterator[str]:
    """Yield the keys pressed, one by one: quick fingers deliver several at once."""
    while True:
        try:
            chunk = click.getchar()
        except EOFError:
            chunk = "q"
        if not chunk.startswith(_ESCAPES):
            yield from chunk


def _one(known: Mapping[str, Choice], keys: Iterator[str]) -> Choice:
    while (key := next(keys)) not in known:
        click.echo("\a", nl=False)
    return known[key]


def _typed(criterion: Criterion, keys: Iterator[str]) -> Choice:
    """Read a number up to Enter, or one of the plain keys."""
    typed = ""
    while (key := next(keys)) not in _PLAIN_KEYS:
        if key in _ENTER and allows(criterion, _number(typed)):
            return int(typed)
        typed = _edited(typed, key)
        click.echo(f"\r{typed:<8}", nl=False)
    return _PLAIN_KEYS[key]


def _edited(typed: str, key: str) -> str:
    if key in _ERASE:
        return typed[:-1]
    if key in _ENTER:
        return ""  # what stands there is no mark of this criterion: begin again
    return typed + key if key.isdecimal() or (key == "-" and not typed) else typed


def _number(typed: str) -> int | None:
    try:
        return int(typed)
    except ValueError:
        return None
