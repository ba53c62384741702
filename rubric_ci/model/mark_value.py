"""The kinds of criteria and the values of their marks."""

from typing import Final, Literal, TypeAlias

CHECKLIST: Final = "checklist"
SCORE_RANGE: Final = "score-range"
LEVELS: Final = "levels"
ASSERTION: Final = "assertion"
YES_OR_NO: Final = frozenset((CHECKLIST, ASSERTION))  # the mark is true or false

CannotAssess: TypeAlias = Literal["cannot_assess"]
CANNOT_ASSESS: CannotAssess = "cannot_assess"

MarkValue: TypeAlias = bool | int | CannotAssess
"""Satisfied or not (checklist, assertion), 0..10 (score-range), a level, or cannot_assess."""


def mark_share(value: MarkValue) -> float:
    """Return a mark of a check or of a score range as 0..1; levels have no scale of their own."""
    if value == CANNOT_ASSESS:
        return 0.0
    return float(value) if isinstance(value, bool) else float(value) / 10
