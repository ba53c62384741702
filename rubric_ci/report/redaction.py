"""A report without secrets: every text of it, once, before any output is rendered."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from rubric_ci.model.report import RunReport
from rubric_ci.text.redact import Redact

_KEPT = frozenset(
    {"file", "id", "gated_by", "kind", "mode", "fail_on", "outcome", "type", "verdict"}
    | {"change", "source", "answered_at", "commit", "committed_at", "ref"}
    | {"metadata", "prompt_version", "started_at", "tool"}
)
"""Fields by which reports are compared and posted; they hold committed names and fixed words."""


def without_secrets(report: RunReport, redact: Redact) -> RunReport:
    """Return the report with every text of models, scripts, servers and messages redacted."""
    redacted: RunReport = _redacted(report, redact)
    return redacted


def _redacted(value: Any, redact: Redact) -> Any:
    match value:
        case str():
            return redact(value)
        case list() | tuple():
            return type(value)(_redacted(item, redact) for item in value)
        case Mapping():
            return {_redacted(key, redact): _redacted(item, redact) for key, item in value.items()}
        case _ if is_dataclass(value) and not isinstance(value, type):
            names = (field.name for field in fields(value) if field.name not in _KEPT)
            changed = {name: _redacted(getattr(value, name), redact) for name in names}
            return replace(value, **changed)
        case _:
            return value
