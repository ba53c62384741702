"""A key of an assertion: its check, its words and the schema of its value."""

import json
from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias

from rubric_ci.text.numbers import shortened
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.json_value import JSON

CALLS: Final = "calls"
FOLDER: Final = "folder"
TEXT: Final = {"$ref": "#/$defs/text"}  # JSON Schema
TEXTS: Final = {"type": "array", "minItems": 1, "items": TEXT}
LONGEST = 80  # characters of a value in a message


@dataclass(frozen=True, slots=True)
class Outcome:
    """Whether a text holds, the finding in it, and the passage that shows it."""

    holds: bool
    found: str
    evidence: str = ""
    is_clear: bool = True  # False: neither it nor its opposite is shown, and both do not hold


Check: TypeAlias = Callable[[Any, Any, bool], Outcome]
"""From the value that `of` reads from an answer, and whether case is ignored, to the outcome."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One key of an assertion."""

    key: str
    check: Check
    says: str  # "contains {}"
    denies: str  # with `not`
    meaning: str
    value: dict[str, Any]  # JSON Schema
    title: str = ""  # empty: the words of the key
    of: Literal["text", "calls", "folder"] = "text"  # of the answer, the steps, the workspace
    folds: bool = False  # `ignore_case` has an effect
    exact: Check | None = None  # the check with `exact`; None: that has no effect
    growth: Literal["weaker", "stronger", ""] = ""  # of a larger number or a longer list
    ordered: bool = False  # a longer list keeps the order of a shorter one
    problem: Callable[[Any], str] = lambda _: ""  # why a value of the right type cannot be used

    @property
    def schema(self) -> dict[str, Any]:
        """The key in `schemas/eval.schema.json`."""
        title = self.title or self.key.replace("_", " ").capitalize()
        return {"title": title, "description": self.meaning, **self.value}


def quoted_value(value: JSON) -> str:
    """Return a value for a message: texts between backquotes, others as JSON."""
    match value:
        case str():
            return f"`{shortened(' '.join(value.split()) or value, LONGEST)}`"
        case _:
            return f"`{shortened(json.dumps(value, ensure_ascii=False), LONGEST)}`"


def listed(values: list[str]) -> str:
    """Return several texts for a message."""
    return shortened(", ".join(map(quoted_value, values)), 2 * LONGEST)


def line_of(text: str, position: int) -> str:
    """Return the line of a position in words."""
    return f"line {text.count(chr(10), 0, position) + 1}"
