"""Diagnostics as text: `file:line:column`, message, source line and caret."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from rubric_ci.files.validation.output import summary
from rubric_ci.text.escape import log_line, visible
from rubric_ci.values.diagnostics import Diagnostic, Severity

_WIDEST = 120  # columns of a source line that are shown
_COLORS = {Severity.ERROR: "31", Severity.WARNING: "33", Severity.NOTICE: "36"}


def render(
    found: Sequence[Diagnostic], checked: int, notes: Sequence[str] = (), *, color: bool = False
) -> str:
    """Return the notes, all diagnostics by file, and a last line with their number."""
    groups = groupby(found, key=lambda diagnostic: diagnostic.file)
    blocks = ["".join(_block(problem, color=color) for problem in group) for _, group in groups]
    shown = "".join(f"{log_line(note)}\n" for note in notes)
    return shown + "\n".join([*blocks, f"{summary(found, checked)}\n"])


def headline(diagnostic: Diagnostic) -> str:
    severity = diagnostic.severity
    word = "" if severity is Severity.ERROR else f"{severity.value}: "
    hint = f"; {diagnostic.hint}" if diagnostic.hint else ""
    return log_line(f"{_place(diagnostic)}: {word}{diagnostic.rule}: {diagnostic.message}{hint}")


def _block(diagnostic: Diagnostic, *, color: bool) -> str:
    line = headline(diagnostic)
    if color:
        place = log_line(_place(diagnostic))
        rule = f"\x1b[{_COLORS[diagnostic.severity]}m{diagnostic.rule}\x1b[0m"
        rest = line.removeprefix(place).replace(diagnostic.rule, rule, 1)
        line = f"\x1b[1m{place}\x1b[0m{rest}"
    return "".join(f"{shown}\n" for shown in [line, *_quote(diagnostic, color=color)])


def _quote(diagnostic: Diagnostic, *, color: bool) -> Iterator[str]:
    if not diagnostic.line_text.strip():
        return
    span, text = diagnostic.span, diagnostic.line_text
    start = max(0, span.column - _WIDEST // 2) if span.column > _WIDEST else 0
    shown = text[start : start + _WIDEST]
    number = str(span.line)
    before = visible(shown[: span.column - 1 - start])
    end = span.end_column if span.end_line == span.line else len(text) + 1
    under = visible(shown[span.column - 1 - start : end - 1 - start])
    pad = "".join("\t" if sign == "\t" else " " for sign in before)
    caret = "^" * max(1, len(under))
    if color:
        caret = f"\x1b[{_COLORS[diagnostic.severity]}m{caret}\x1b[0m"
    yield f"  {number} | {visible(shown)}"
    yield f"  {' ' * len(number)} | {pad}{caret}"


def _place(diagnostic: Diagnostic) -> str:
    return f"{diagnostic.file}:{diagnostic.span.line}:{diagnostic.span.column}"
