"""Problems of files as text, annotations, JSON or SARIF: a module each, imported when used."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias, assert_never

if TYPE_CHECKING:
    from rubric_ci.values.diagnostics import Diagnostic

Format: TypeAlias = Literal["text", "github", "json", "sarif"]


def render(
    name: Format,
    found: "Sequence[Diagnostic]",
    checked: int,
    notes: Sequence[str] = (),
    *,
    color: bool,
    in_workflow: bool,
    new_token: Callable[[], str],
) -> str:
    """Return the diagnostics of `checked` files in a format, after notes on the check itself.

    `new_token` returns a random word; it fences text that a GitHub runner must not read as
    commands, also in the format `text` where a hook runs in a workflow.
    """
    match name:
        case "github":
            from rubric_ci.files.validation.output import github

            return github.render(found, checked, new_token(), notes)
        case "json":
            from rubric_ci.files.validation.output import json

            return json.render(found, checked, notes)
        case "sarif":
            from rubric_ci import __version__
            from rubric_ci.files.validation.output import sarif
            from rubric_ci.files.validation.rules import meanings

            return sarif.render(found, __version__, meanings(), notes)
        case "text":
            if not found and not notes:
                return f"{summary(found, checked)}\n"  # saves importing the escaping rules: 8 ms
            from rubric_ci.files.validation.output import plain_text
            from rubric_ci.text.escape import disable_workflow_commands

            lines = plain_text.render(found, checked, notes, color=color)
            return disable_workflow_commands(lines, new_token()) if in_workflow else lines
        case _:
            assert_never(name)


def summary(found: "Sequence[Diagnostic]", checked: int) -> str:
    files = _plural(checked, "file")
    if not found:
        return f"{files} checked: no problems"
    from rubric_ci.values.diagnostics import Severity

    counts = [
        _plural(sum(d.severity is severity for d in found), severity.value)
        for severity in Severity
        if any(d.severity is severity for d in found)
    ]
    return f"{files} checked: {' and '.join(counts)}"


def _plural(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count:,} {word}s"
