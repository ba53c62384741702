"""A report without secrets: every text of it, once, before any output is rendered."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any

from rubric_ci.gate.report import json_format
from rubric_ci.model.report import RunReport
from rubric_ci.model.trials import judge_noise
from rubric_ci.text.redact import Redactor

_KEPT = frozenset(
    {"file", "id", "gated_by", "kind", "mode", "fail_on", "outcome", "type", "verdict"}
    | {"change", "source", "answered_at", "commit", "committed_at", "ref"}
    | {"metadata", "prompt_version", "started_at", "tool"}
)
"""Fields by which reports are compared and posted; they hold committed names and fixed words."""


def without_secrets(report: RunReport, redactor: Redactor) -> RunReport:
    """Return the report with every text of models, scripts, servers and messages redacted.

    Most reports hold no secret: their JSON has none, and they are returned as they are.
    """
    if not (redactor.needles and any(map(redactor.finds_in_json, json_format.pieces(report)))):
        return report
    redacted: RunReport = _redacted(report, redactor)
    # Answers that differ in secrets only are equal now.
    noise = judge_noise(redacted.cases)
    return replace(redacted, totals=replace(redacted.totals, judge_noise=noise))


def _redacted(value: Any, redact: Redactor) -> Any:
    match value:
        case str():
            return redact(value)
        case list() | tuple():
            return type(value)(_redacted(item, redact) for item in value)
        case Mapping():
            return {_redacted(key, redact): _redacted(item, redact) for key, item in value.items()}
        case _ if is_dataclass(value) and not isinstance(value, type):
            found = {name: getattr(value, name) for name in _names(type(value))}
            changed = {name: _redacted(each, redact) for name, each in found.items()}
            return value if changed == found else replace(value, **changed)
        case _:
            return value


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind) if field.name not in _KEPT)
