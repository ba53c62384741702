"""The kinds of criteria and the values of their marks."""

from typing import Final, Literal, TypeAlias

CHECKLIST: Final = "checklist"
SCORE_RANGE: Final = "score-range"
LEVELS: Final = "levels"

CannotAssess: TypeAlias = Literal["cannot_assess"]
CANNOT_ASSESS: CannotAssess = "cannot_assess"

MarkValue: TypeAlias = bool | int | CannotAssess
"""Satisfied or not (checklist), 0..10 (score-range), a declared level, or cannot_assess."""
