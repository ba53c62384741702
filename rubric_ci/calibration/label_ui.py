"""Screen and keyboard input for marking an answer by hand, one criterion at a time.

The judge's marks, the weight and the gate are not shown, so that labels are independent of them.
"""

from collections.abc import Iterator, Mapping
from textwrap import indent
from typing import Literal, TypeAlias, assert_never

import click

from rubric_ci.calibration.agreement import mark_text
from rubric_ci.calibration.attack_corpus import allows
from rubric_ci.model.evals import EvalCase
from rubric_ci.model.mark_value import CANNOT_ASSESS, MarkValue
from rubric_ci.model.rubric import Check, Judged, Levelled, Scored, scale
from rubric_ci.text.escape import log_line, log_text


def render(
    case: EvalCase, answer: str, criterion: Judged, *, place: str, previous: MarkValue | None
) -> str:
    """Return the screen; `place` is the progress, `previous` the mark given before."""
    return "\n".join(_lines(case, answer, criterion, place, previous))


def _lines(
    case: EvalCase, answer: str, criterion: Judged, place: str, known: MarkValue | None
) -> Iterator[str]:
    yield f"{log_line(case.file)}: {log_line(case.id)}  ({place})"
    yield from _block("Question", case.question)
    yield from _block("Expected outcome", case.expected_outcome)
    yield from _block("Reference answer", case.reference_answer)
    yield from _block("Answer", answer or "(empty)")
    yield from _block(f"Criterion {log_line(criterion.id)}", _criterion_text(criterion))
    yield ""
    if known is not None:
        yield f"Marked before: {mark_text(known)}"
    yield f"{_keys(criterion)} · c cannot assess · s skip · b back · q quit"


def _block(title: str, text: str) -> Iterator[str]:
    if text.strip():
        yield ""
        yield f"{title}:"
        yield indent(log_text(text).strip("\n"), "  ")


def _criterion_text(criterion: Judged) -> str:
    return "\n".join(filter(None, (criterion.text, *scale(criterion))))


def _keys(criterion: Judged) -> str:
    match criterion:
        case Check():
            return "y satisfied · n not satisfied"
        case Scored():
            return "0 to 10, then Enter"
        case Levelled():
            return f"{', '.join(str(s.level) for s in criterion.levels)}, then Enter"
        case _:
            assert_never(criterion)


Choice: TypeAlias = MarkValue | Literal["skip", "back", "quit"]

_PLAIN_KEYS: Mapping[str, Choice] = {
    "c": CANNOT_ASSESS,
    "s": "skip",
    "b": "back",
    "q": "quit",
}
_CHECK_KEYS: Mapping[str, Choice] = {"y": True, "n": False}
_ESCAPES = ("\x1b", "\x00", "\xe0")  # prefixes of arrow and function keys
_ENTER, _ERASE = ("\r", "\n"), ("\x7f", "\b")


def read_mark(criterion: Judged, keys: Iterator[str]) -> Choice:
    """Read keys until one is a valid choice for this criterion."""
    if isinstance(criterion, Check):
        return _read_key({**_PLAIN_KEYS, **_CHECK_KEYS}, keys)
    return _read_number(criterion, keys)


def key_presses() -> Iterator[str]:
    """Yield the pressed keys one by one; one read can return several."""
    while True:
        try:
            chunk = click.getchar()
        except EOFError:
            chunk = "q"
        if not chunk.startswith(_ESCAPES):
            yield from chunk


def _read_key(known: Mapping[str, Choice], keys: Iterator[str]) -> Choice:
    while (key := next(keys)) not in known:
        click.echo("\a", nl=False)
    return known[key]


def _read_number(criterion: Judged, keys: Iterator[str]) -> Choice:
    """Read a number and Enter, or one of the plain keys."""
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
        return ""  # not a mark of this criterion: start again
    return typed + key if key.isdecimal() or (key == "-" and not typed) else typed


def _number(typed: str) -> int | None:
    try:
        return int(typed)
    except ValueError:
        return None
