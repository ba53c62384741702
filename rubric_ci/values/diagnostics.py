"""Problems in input files: the rule, the place, and how to fix it."""

from enum import Enum
from typing import Literal, TypeAlias

from rubric_ci.values.dataclass import dataclass


class Severity(Enum):
    """Severity of a problem; output formats map it to their own words."""

    ERROR = "error"
    WARNING = "warning"
    NOTICE = "notice"


@dataclass(frozen=True, slots=True)
class Span:
    """A range of a text file; lines and columns from 1, in code points, end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int
    file: str = ""  # of a criterion that is in a rubric file; empty: the file that has its owner


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    rule: str  # kebab-case id, such as "score-range-overlap"
    severity: Severity
    file: str  # as the user named it, with forward slashes
    span: Span
    message: str
    hint: str = ""
    line_text: str = ""  # the source line of its start


AnnotationLevel: TypeAlias = Literal["error", "warning", "notice"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """A message at one line; raw text, not escaped for any format."""

    level: AnnotationLevel
    rule: str  # fail | borderline | no-verdict | skipped | warning
    subject: tuple[str, ...]  # ids of the case and of the criterion or evaluator
    file: str  # relative to the repository root
    line: int  # from 1
    title: str
    message: str
