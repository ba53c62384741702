"""The schema of rubric files, from the parts of the schema of eval files that it shares."""

import json
from pathlib import Path
from typing import Any

from tests.schemas.declared import text_of

SCHEMAS = Path(__file__).parents[2] / "schemas"


def schema() -> str:
    """Return `schemas/rubric.schema.json`."""
    shared = json.loads((SCHEMAS / "eval.schema.json").read_text(encoding="utf-8"))["$defs"]
    found = {**_OWN, "$defs": {"rubricTest": _TEST}}
    wanted = _names(found)
    while wanted - found["$defs"].keys():
        for name in sorted(wanted - found["$defs"].keys()):
            found["$defs"][name] = shared[name]
        wanted = _names(found)
    found["$defs"] = {name: each for name, each in found["$defs"].items() if name in wanted}
    return f"{text_of(found)}\n"


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
        "tests": {
            "title": "Tests",
            "description": "Answers with the marks that a judge must give them: "
            "`rubric-ci judge test`. No judge that grades is shown them.",
            "type": "array",
            "minItems": 1,
            "items": {"$ref": "#/$defs/rubricTest"},
            "examples": [[{"answer": "We will refund you.", "marks": {"no-promise": True}}]],
        },
    },
}
_TEST: dict[str, Any] = {
    "title": "Test",
    "description": "An answer, and the marks that it must get.",
    "type": "object",
    "required": ["marks"],
    "additionalProperties": False,
    "patternProperties": {"^x-": True},
    "properties": {
        "name": {
            "title": "Name",
            "description": "Name in results. Without it, `test-<n>`.",
            "$ref": "#/$defs/text",
            "examples": ["says will"],
        },
        "answer": {
            "title": "Answer",
            "description": "Text of the answer; no variable is replaced in it.",
            "$ref": "#/$defs/text",
            "examples": ["We will refund you."],
        },
        "answer_file": {
            "title": "Answer file",
            "description": "Path of a file with the answer, in place of `answer`.",
            "$ref": "#/$defs/text",
            "examples": ["answers/refund.md"],
        },
        "question": {
            "title": "Question",
            "description": "What was asked.",
            "$ref": "#/$defs/text",
            "examples": ["May I return it?"],
        },
        "expected_outcome": {
            "title": "Expected outcome",
            "description": "Description of a good answer, which the judge sees.",
            "$ref": "#/$defs/text",
            "examples": ["Names the period"],
        },
        "output_messages": {
            "title": "Output messages",
            "description": "Messages and tool calls of the target.",
            "type": "array",
            "items": {"type": "object"},
            "examples": [[{"role": "assistant", "tool_calls": [{"tool": "find_order"}]}]],
        },
        "vars": {"$ref": "#/$defs/vars"},
        "tags": {
            "title": "Tags",
            "description": "Tags of the case, for criteria that apply by tag.",
            "type": "array",
            "items": {"$ref": "#/$defs/text"},
            "examples": [["formal"]],
        },
        "marks": {
            "title": "Marks",
            "description": "Expected marks by criterion; of a list, any one is right.",
            "type": "object",
            "minProperties": 1,
            "additionalProperties": {
                "type": ["boolean", "integer", "string", "array"],
                "minItems": 1,
                "items": {"type": ["boolean", "integer", "string"]},
            },
            "examples": [{"no-promise": True, "tone": [3, 4]}],
        },
    },
}
