"""Problems of files as text, annotations, JSON or SARIF; the line that counts them is here."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rubric_ci.values.diagnostics import Diagnostic


def summary(found: "Sequence[Diagnostic]", checked: int) -> str:
    """Return the number of files and of problems."""
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
