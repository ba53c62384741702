"""Problems of files as text, workflow commands (annotations), JSON and SARIF."""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import groupby
from json import dumps
from typing import Any, Final

from rubric_ci.text import escape
from rubric_ci.text.escape import (
    PER_LEVEL,
    command,
    disable_workflow_commands,
    log_line,
    visible,
    within_cap,
)
from rubric_ci.text.numbers import plural
from rubric_ci.values.diagnostics import Diagnostic, Severity
from rubric_ci.values.problems import Rule

VERSION: Final = 1  # of the JSON
MOST_SNIPPET: Final = 120  # characters of the line in SARIF, around the column
_WIDEST: Final = 120  # columns of a source line that are shown
_COLORS: Final = {Severity.ERROR: "31", Severity.WARNING: "33", Severity.NOTICE: "36"}
_LEVELS: Final = {"error": "error", "warning": "warning", "notice": "note"}


def summary(found: Sequence[Diagnostic], checked: int) -> str:
    files = plural(checked, "file")
    if not found:
        return f"{files} checked: no problems"
    counts = [
        plural(sum(d.severity is severity for d in found), severity.value)
        for severity in Severity
        if any(d.severity is severity for d in found)
    ]
    return f"{files} checked: {' and '.join(counts)}"


def as_text(
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


def as_annotations(
    found: Sequence[Diagnostic], checked: int, token: str, notes: Sequence[str] = ()
) -> str:
    """Return one command per line, most severe first, then the diagnostics beyond the limits.

    These are plain lines, in which the runner must not read commands: `token` is a random word that
    disables commands around them.
    The first note is the title of one notice, the others are its lines.
    """
    commands = (
        [command("notice", "\n".join(notes[1:] or notes), {"title": notes[0]})] if notes else []
    )
    rest: list[Diagnostic] = []
    for severity in Severity:
        of_level = [diagnostic for diagnostic in found if diagnostic.severity is severity]
        noted = bool(notes) and severity is Severity.NOTICE
        shown, beyond = within_cap(of_level, PER_LEVEL - noted)
        commands += [annotation(diagnostic) for diagnostic in shown]
        if beyond:
            rest += beyond
            commands.append(_more(severity, len(beyond)))
    lines = "".join(f"{line}\n" for line in commands)
    return lines + _log(rest, token) + f"{summary(found, checked)}\n"


def annotation(diagnostic: Diagnostic) -> str:
    """Return a diagnostic as a workflow command, with its hint on a second line."""
    hint = f"\n{diagnostic.hint}" if diagnostic.hint else ""
    return command(
        diagnostic.severity.value,
        diagnostic.message + hint,
        {"file": diagnostic.file, **dict(_region(diagnostic)), "title": diagnostic.rule},
    )


def _region(diagnostic: Diagnostic) -> Iterator[tuple[str, int]]:
    """Yield lines and columns; columns only within a line, and the last one included."""
    span = diagnostic.span
    yield "line", span.line
    yield "endLine", span.end_line
    if span.line == span.end_line:
        yield "col", span.column
        yield "endColumn", max(span.column, span.end_column - 1)


def _more(severity: Severity, count: int) -> str:
    message = f"{count:,} more {severity.value}s; the log of this step lists them"
    return command(severity.value, message, {"title": "rubric-ci validate"})


def _log(rest: Sequence[Diagnostic], token: str) -> str:
    if not rest:
        return ""
    return disable_workflow_commands(
        "".join(f"{headline(diagnostic)}\n" for diagnostic in rest), token
    )


def as_json(found: Sequence[Diagnostic], checked: int, notes: Sequence[str] = ()) -> str:
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


def as_sarif(found: Sequence[Diagnostic], notes: Sequence[str] = ()) -> str:
    """Return one log of SARIF 2.1.0, for code scanning."""
    from rubric_ci import __version__
    from rubric_ci.files.validation.rules import RULES

    used = sorted({diagnostic.rule for diagnostic in found})
    places = {rule: index for index, rule in enumerate(used)}
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "rubric-ci",
                        "semanticVersion": __version__,
                        "informationUri": "https://github.com/rubric-ci/rubric-ci",
                        "rules": [_sarif_rule(RULES[rule]) for rule in used],
                    }
                },
                **_invocations(notes),
                "columnKind": "unicodeCodePoints",
                "results": [_result(diagnostic, places) for diagnostic in found],
            }
        ],
    }
    return escape.json_text(dumps(log, ensure_ascii=False, indent=2)) + "\n"


def _invocations(notes: Sequence[str]) -> dict[str, Any]:
    """Return the key that holds notes on the check itself; nothing without notes."""
    if not notes:
        return {}
    said = [{"level": "note", "message": {"text": escape.visible(note)}} for note in notes]
    return {"invocations": [{"executionSuccessful": True, "toolExecutionNotifications": said}]}


def _sarif_rule(rule: Rule) -> dict[str, Any]:
    first_sentence = rule.meaning.split(". ")[0].removesuffix(".")
    return {
        "id": rule.id,
        "shortDescription": {"text": f"{first_sentence}."},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _result(diagnostic: Diagnostic, places: Mapping[str, int]) -> dict[str, Any]:
    hint = f"; {diagnostic.hint}" if diagnostic.hint else ""
    text = escape.visible(f"{diagnostic.message}{hint}.")
    identity = f"{diagnostic.file}\n{diagnostic.rule}\n{diagnostic.message}"
    return {
        "ruleId": diagnostic.rule,
        "ruleIndex": places[diagnostic.rule],
        "level": _LEVELS[diagnostic.severity.value],
        "message": {"text": text},
        "locations": [{"physicalLocation": _location(diagnostic)}],
        "partialFingerprints": {"rubricCi/v1": sha256(identity.encode()).hexdigest()},
    }


def _around(line: str, column: int) -> str:
    last = len(line) - MOST_SNIPPET
    start = max(0, min(column - 1 - MOST_SNIPPET // 2, last))
    return line[start : start + MOST_SNIPPET]


def _location(diagnostic: Diagnostic) -> dict[str, Any]:
    span = diagnostic.span
    region: dict[str, Any] = {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }
    if diagnostic.line_text:
        region["snippet"] = {"text": escape.visible(_around(diagnostic.line_text, span.column))}
    return {"artifactLocation": {"uri": escape.path_target(diagnostic.file)}, "region": region}
