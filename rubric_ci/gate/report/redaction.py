"""A report without secrets: every text of it, once, before any output is rendered."""

from dataclasses import replace

from rubric_ci.gate.report import json_format
from rubric_ci.text.redact import Redactor, redacted
from rubric_ci.values.report import RunReport
from rubric_ci.values.trials import judge_noise

_KEPT = frozenset(
    {"file", "id", "gated_by", "kind", "mode", "fail_on", "outcome", "type", "verdict"}
    | {"change", "source", "answered_at", "commit", "committed_at", "ref"}
    | {"metadata", "prompt_version", "started_at"}
)
"""Fields by which reports are compared and posted; they hold committed names and fixed words."""


def without_secrets(report: RunReport, redactor: Redactor) -> RunReport:
    """Return the report with every text of models, scripts, servers and messages redacted.

    Most reports hold no secret: their JSON has none, and they are returned as they are.
    """
    if not (redactor.needles and any(map(redactor.finds_in_json, json_format.pieces(report)))):
        return report
    found = redacted(report, redactor, _KEPT)
    # Answers that differ in secrets only are equal now.
    noise = judge_noise(found.cases)
    return replace(found, totals=replace(found.totals, judge_noise=noise))
