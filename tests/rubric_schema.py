"""The schema of rubric files, from the parts of the schema of eval files that it shares."""

import json
from pathlib import Path
from typing import Any

SCHEMAS = Path(__file__).parents[1] / "schemas"


def schema() -> str:
    """Return `schemas/rubric.schema.json`."""
    shared = json.loads((SCHEMAS / "eval.schema.json").read_text(encoding="utf-8"))["$defs"]
    found = {**_OWN, "$defs": {}}
    wanted = _names(found)
    while wanted - found["$defs"].keys():
        for name in sorted(wanted - found["$defs"].keys()):
            found["$defs"][name] = shared[name]
        wanted = _names(found)
    found["$defs"] = {name: found["$defs"][name] for name in shared if name in wanted}
    return json.dumps(found, ensure_ascii=False, indent=2) + "\n"


def _names(value: Any) -> set[str]:
    """Return the names of the definitions that a schema refers to."""
    if isinstance(value, dict):
        reference = value.get("$ref")
        own = {reference.split("/")[2]} if isinstance(reference, str) else set()
        return own.union(*(_names(each) for each in value.values()))
    return set().union(*(_names(each) for each in value)) if isinstance(value, list) else set()


_OWN: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Rubric file",
    "description": "Criteria that eval files include.",
    "type": "object",
    "required": ["criteria"],
    "additionalProperties": False,
    "patternProperties": {"^x-": True},
    "properties": {
        "$schema": {
            "title": "Schema",
            "description": "JSON Schema that editors check this file against.",
            "type": "string",
            "examples": ["../schemas/rubric.schema.json"],
        },
        "description": {
            "title": "Description",
            "description": "Subject of this rubric, for its readers.",
            "type": "string",
            "default": "",
            "examples": ["What no answer of the shop may promise"],
        },
        "criteria": {"$ref": "#/$defs/rubrics"},
        "sees": {"$ref": "#/$defs/sees"},
        "guidelines": {"$ref": "#/$defs/guidelines"},
        "examples": {"$ref": "#/$defs/markedExamples"},
        "vars": {"$ref": "#/$defs/vars"},
    },
}
