"""A remark at one line of a file, as annotations, code scanning and check runs show it."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

AnnotationLevel: TypeAlias = Literal["error", "warning", "notice"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """One remark at one line; raw text, not escaped for any format."""

    level: AnnotationLevel
    rule: str  # fail | borderline | no-verdict | skipped | warning
    subject: tuple[str, ...]  # ids of the case and of the criterion or evaluator
    file: str  # relative to the repository root
    line: int  # from 1
    title: str
    message: str
