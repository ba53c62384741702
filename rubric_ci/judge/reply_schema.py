"""The reply that a judge must give: aliases of criteria, properties, JSON Schema."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, TypeAlias, assert_never

from rubric_ci.model.json_value import JSON
from rubric_ci.model.llm_calls import in_keys
from rubric_ci.model.rubric import Check, Judged, Levelled, Scored
from rubric_ci.model.scoring import CANNOT_ASSESS

SCHEMA_VERSION = "1"

_Marks: TypeAlias = tuple[str, str, tuple[int, ...]]
"""The property that carries a mark, its JSON type, and its values; empty: all of the type."""

_SCORES: Final = tuple(range(11))
_PROPERTIES: Final[Mapping[type[Judged], str]] = {
    Check: "satisfied",
    Scored: "score",
    Levelled: "level",
}


def aliased(criteria: Sequence[Judged]) -> dict[str, Judged]:
    """Name the criteria `c1` to `cn`, in this order."""
    return {f"c{n}": criterion for n, criterion in enumerate(criteria, 1)}


def reply_schema(criteria: Sequence[Judged]) -> Mapping[str, JSON]:
    """Return a strict JSON Schema that allows no omitted, repeated or unknown id."""
    return _schema(tuple(map(_marks, criteria)))[0]


def schema_in_keys(criteria: Sequence[Judged]) -> str:
    """Return the schema as keys of requests contain it."""
    return _schema(tuple(map(_marks, criteria)))[1]


@lru_cache(maxsize=100)
def _schema(marks: tuple[_Marks, ...]) -> tuple[Mapping[str, JSON], str]:
    """Return the schema, also as a text; most rubrics of a suite have one of a few."""
    schema = strict_object({f"c{n}": _entry(*each) for n, each in enumerate(marks, 1)})
    return schema, in_keys(schema)


def mark_property(criterion: Judged) -> str:
    """Return the name of the property that carries the mark."""
    return _PROPERTIES[type(criterion)]


def allowed_marks(criterion: Judged) -> str:
    """Return the possible marks, as prompts and messages name them."""
    match criterion:
        case Check():
            marks = "true, false"
        case Scored():
            marks = "an integer from 0 to 10"
        case Levelled():
            marks = "one of " + ", ".join(str(level.level) for level in criterion.levels)
        case _:
            assert_never(criterion)
    return f'{marks} or "{CANNOT_ASSESS}"'


def _entry(name: str, kind: str, allowed: tuple[int, ...]) -> Mapping[str, JSON]:
    # The model writes in this order: quote first, reasoning second, mark last.
    reasons = {"evidence": {"type": "string"}, "reasoning": {"type": "string"}}
    marks = {"type": kind, "enum": list(allowed)} if allowed else {"type": kind}
    mark = {name: {"anyOf": [marks, {"type": "string", "enum": [CANNOT_ASSESS]}]}}
    return strict_object({**reasons, **mark})


def _marks(criterion: Judged) -> _Marks:
    name = mark_property(criterion)
    match criterion:
        case Check():
            return name, "boolean", ()
        case Scored():
            return name, "integer", _SCORES
        case Levelled():
            return name, "integer", tuple(level.level for level in criterion.levels)
        case _:
            assert_never(criterion)


def strict_object(properties: Mapping[str, JSON]) -> Mapping[str, JSON]:
    """Return the JSON Schema of an object with exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
