"""The reply that a judge must give: aliases of criteria, properties, JSON Schema."""

from collections.abc import Mapping, Sequence
from typing import assert_never

from rubric_ci.model.json_value import JSON
from rubric_ci.model.mark_value import CANNOT_ASSESS
from rubric_ci.model.rubric import Check, Judged, Levelled, Scored

SCHEMA_VERSION = "1"


def aliased(criteria: Sequence[Judged]) -> dict[str, Judged]:
    """Name the criteria `c1` to `cn`, in this order."""
    return {f"c{n}": criterion for n, criterion in enumerate(criteria, 1)}


def reply_schema(criteria: Sequence[Judged]) -> Mapping[str, JSON]:
    """Return a strict JSON Schema that allows no omitted, repeated or unknown id."""
    return strict_object(
        {alias: _entry(criterion) for alias, criterion in aliased(criteria).items()}
    )


def mark_property(criterion: Judged) -> str:
    """Return the name of the property that carries the mark."""
    match criterion:
        case Check():
            return "satisfied"
        case Scored():
            return "score"
        case Levelled():
            return "level"
        case _:
            assert_never(criterion)


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


def _entry(criterion: Judged) -> Mapping[str, JSON]:
    # The model writes in this order: quote first, reasoning second, mark last.
    reasons = {"evidence": {"type": "string"}, "reasoning": {"type": "string"}}
    mark = {
        mark_property(criterion): {
            "anyOf": [_marks(criterion), {"type": "string", "enum": [CANNOT_ASSESS]}]
        }
    }
    return strict_object({**reasons, **mark})


def _marks(criterion: Judged) -> Mapping[str, JSON]:
    match criterion:
        case Check():
            return {"type": "boolean"}
        case Scored():
            return {"type": "integer", "enum": list(range(11))}
        case Levelled():
            return {"type": "integer", "enum": [level.level for level in criterion.levels]}
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
