"""Diagnostics as JSON."""

from collections.abc import Sequence
from json import dumps

from rubric_ci.text import escape
from rubric_ci.values.diagnostics import Diagnostic

VERSION = 1


def render(found: Sequence[Diagnostic], checked: int, notes: Sequence[str] = ()) -> str:
    """Return one object: `version`, `checked` (files), `notes` if any, and `problems`."""
    problems = [_problem(diagnostic) for diagnostic in found]
    noted = {"notes": list(notes)} if notes else {}
    answer = {"version": VERSION, "checked": checked, **noted, "problems": problems}
    return escape.json_text(dumps(answer, indent=2)) + "\n"


def _problem(diagnostic: Diagnostic) -> dict[str, str | int]:
    span = diagnostic.span
    return {
        "file": diagnostic.file,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
        "rule": diagnostic.rule,
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
        "hint": diagnostic.hint,
    }
