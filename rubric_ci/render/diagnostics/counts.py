"""How many files were checked and what was found: all that a clean run has to say."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rubric_ci.model.diagnostic import Diagnostic


def summary(found: "Sequence[Diagnostic]", checked: int) -> str:
    """Count files and problems."""
    files = _plural(checked, "file")
    if not found:
        return f"{files} checked: no problems"
    from rubric_ci.model.diagnostic import Severity

    counts = [
        _plural(sum(d.severity is severity for d in found), severity.value)
        for severity in Severity
        if any(d.severity is severity for d in found)
    ]
    return f"{files} checked: {' and '.join(counts)}"


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
