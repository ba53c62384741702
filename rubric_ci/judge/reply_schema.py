"""What a judge must reply to a list of criteria: aliases, properties, JSON Schema."""

from collections.abc import Mapping, Sequence
from typing import assert_never

from rubric_ci.model.evals import JSON
from rubric_ci.model.rubric import CANNOT_ASSESS, Check, Criterion, Levelled, Scored

SCHEMA_VERSION = "1"


def aliased(criteria: Sequence[Criterion]) -> dict[str, Criterion]:
    """Name the criteria `c1` to `cn`, in this order."""
    return {f"c{n}": criterion for n, criterion in enumerate(criteria, 1)}


def reply_schema(criteria: Sequence[Criterion]) -> Mapping[str, JSON]:
    """Return a strict JSON Schema in which an omitted, repeated or unknown id cannot be said."""
    return strict_object(
        {alias: _entry(criterion) for alias, criterion in aliased(criteria).items()}
    )


def mark_property(criterion: Criterion) -> str:
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


def allowed_marks(criterion: Criterion) -> str:
    """Say which marks are possible, for people and models."""
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


def _entry(criterion: Criterion) -> Mapping[str, JSON]:
    # The order is the order of thought: quote first, reason second, mark last.
    return strict_object(
        {
            "evidence": {"type": "string"},
            "reasoning": {"type": "string"},
            mark_property(criterion): {
                "anyOf": [_marks(criterion), {"type": "string", "enum": [CANNOT_ASSESS]}]
            },
        }
    )


def _marks(criterion: Criterion) -> Mapping[str, JSON]:
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
