"""The values of a mark."""

from typing import Literal, TypeAlias

CannotAssess: TypeAlias = Literal["cannot_assess"]
CANNOT_ASSESS: CannotAssess = "cannot_assess"

MarkValue: TypeAlias = bool | int | CannotAssess
"""Satisfied or not (checklist), 0..10 (score-range), a declared level, or cannot_assess."""
