"""Diagnostics as workflow commands: annotations, within GitHub's limits.

The rest is logged as plain lines, in which the runner must not read commands: `token` is the random
word that disables commands around them.
"""

from collections.abc import Iterator, Sequence

from rubric_ci.files.validation.output import summary
from rubric_ci.files.validation.output.plain_text import headline
from rubric_ci.text.escape import PER_LEVEL, command, disable_workflow_commands, within_cap
from rubric_ci.values.diagnostics import Diagnostic, Severity


def render(found: Sequence[Diagnostic], checked: int, token: str, notes: Sequence[str] = ()) -> str:
    """Return one command per line, most severe first, then the diagnostics beyond the limits.

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
