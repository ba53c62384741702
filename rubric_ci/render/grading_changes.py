"""The section about changes to the grading, as all formats show it."""

from typing import Final

from rubric_ci.model.changes import Direction, GradingChange
from rubric_ci.model.report import RunReport
from rubric_ci.text import numbers

TITLE: Final = "Changes to the grading"
LONGEST: Final = 160  # characters of a value

_SIGNS: Final[dict[Direction, str]] = {"weaker": "🔻", "stronger": "🔺", "changed": "🔹"}


def summary(report: RunReport) -> str:
    """Return the title with the number of changes in each direction."""
    counts = [
        f"{number:,} {direction}"
        for direction in ("weaker", "changed", "stronger")
        if (number := sum(each.direction == direction for each in report.grading_changes))
    ]
    return f"{TITLE}: {', '.join(counts)}"


def sign(change: GradingChange) -> str:
    """Return the icon of weaker, stronger or changed."""
    return _SIGNS[change.direction]


def line(change: GradingChange) -> str:
    """Return a change without its place: direction, subject, before and after."""
    named = change.about.startswith(f"{change.kind}.")  # as "gate.fail_on" names its kind
    about = change.about if named else f"{change.kind} {change.about}"
    return f"{change.direction}: {about}: {_shown(change.before)} → {_shown(change.after)}"


def _shown(text: str) -> str:
    return numbers.shortened(" ".join(text.split()), LONGEST) or "(none)"
