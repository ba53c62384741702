"""Diagnostics as SARIF 2.1.0, for code scanning."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from json import dumps
from typing import Any

from rubric_ci.files.validation.rules import RULES
from rubric_ci.text import escape
from rubric_ci.values.diagnostics import Diagnostic

_LEVELS = {"error": "error", "warning": "warning", "notice": "note"}

MOST_SNIPPET = 120  # characters of the line, around the column


def render(
    found: Sequence[Diagnostic],
    version: str,
    meanings: Mapping[str, str],
    notes: Sequence[str] = (),
) -> str:
    """Return one SARIF log; `meanings` has a sentence about each rule."""
    used = sorted({diagnostic.rule for diagnostic in found})
    places = {rule: index for index, rule in enumerate(used)}
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "rubric-ci",
                        "semanticVersion": version,
                        "informationUri": "https://github.com/rubric-ci/rubric-ci",
                        "rules": [_rule(rule, meanings[rule]) for rule in used],
                    }
                },
                **_invocations(notes),
                "columnKind": "unicodeCodePoints",
                "results": [_result(diagnostic, places) for diagnostic in found],
            }
        ],
    }
    return escape.json_text(dumps(log, ensure_ascii=False, indent=2)) + "\n"


def _invocations(notes: Sequence[str]) -> dict[str, Any]:
    """Return the key that holds notes on the check itself; nothing without notes."""
    if not notes:
        return {}
    said = [{"level": "note", "message": {"text": escape.visible(note)}} for note in notes]
    return {"invocations": [{"executionSuccessful": True, "toolExecutionNotifications": said}]}


def _rule(rule: str, meaning: str) -> dict[str, Any]:
    return {
        "id": rule,
        "shortDescription": {"text": meaning},
        "defaultConfiguration": {"level": _LEVELS[RULES[rule].severity]},
    }


def _result(diagnostic: Diagnostic, places: Mapping[str, int]) -> dict[str, Any]:
    hint = f"; {diagnostic.hint}" if diagnostic.hint else ""
    text = escape.visible(f"{diagnostic.message}{hint}.")
    identity = f"{diagnostic.file}\n{diagnostic.rule}\n{diagnostic.message}"
    return {
        "ruleId": diagnostic.rule,
        "ruleIndex": places[diagnostic.rule],
        "level": _LEVELS[diagnostic.severity.value],
        "message": {"text": text},
        "locations": [{"physicalLocation": _location(diagnostic)}],
        "partialFingerprints": {"rubricCi/v1": sha256(identity.encode()).hexdigest()},
    }


def _around(line: str, column: int) -> str:
    last = len(line) - MOST_SNIPPET
    start = max(0, min(column - 1 - MOST_SNIPPET // 2, last))
    return line[start : start + MOST_SNIPPET]


def _location(diagnostic: Diagnostic) -> dict[str, Any]:
    span = diagnostic.span
    region: dict[str, Any] = {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }
    if diagnostic.line_text:
        region["snippet"] = {"text": escape.visible(_around(diagnostic.line_text, span.column))}
    return {"artifactLocation": {"uri": escape.path_target(diagnostic.file)}, "region": region}
