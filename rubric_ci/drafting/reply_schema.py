"""JSON Schema of the reply to a drafting prompt: number and kinds of criteria."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from rubric_ci.judge.reply_schema import strict_object
from rubric_ci.model.json_value import JSON

Kind: TypeAlias = Literal["checklist", "score-range", "levels", "auto"]

FEWEST, MOST = 3, 7
SCHEMA_VERSION = "1"


def draft_schema(kind: Kind) -> Mapping[str, JSON]:
    """Return a strict JSON Schema of the reply; the number of criteria is left to `read_draft`."""
    items = {"anyOf": list(_SCHEMAS.values())} if kind == "auto" else _SCHEMAS[kind]
    return strict_object({"rubrics": {"type": "array", "items": items}})


_STRING = {"type": "string"}
_COMMON = {"id": _STRING, "expected_outcome": _STRING, "weight": {"type": "number"}}
_GATE = {"anyOf": [{"type": "integer"}, {"type": "null"}]}
_RANGE = strict_object(
    {
        "score_range": {"type": "array", "items": {"type": "integer"}},
        "expected_outcome": _STRING,
    }
)
_LEVEL = strict_object({"level": {"type": "integer"}, "name": _STRING, "criteria": _STRING})
_SCHEMAS: Mapping[str, Mapping[str, JSON]] = {
    "checklist": strict_object({**_COMMON, "required": {"type": "boolean"}}),
    "score-range": strict_object(
        {
            **_COMMON,
            "required_min_score": _GATE,
            "score_ranges": {"type": "array", "items": _RANGE},
        }
    ),
    "levels": strict_object(
        {**_COMMON, "required_min_level": _GATE, "levels": {"type": "array", "items": _LEVEL}}
    ),
}
