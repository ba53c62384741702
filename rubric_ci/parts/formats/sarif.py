"""A report as SARIF 2.1.0, for code scanning: each missed criterion at its own line."""

import json
from collections.abc import Mapping
from hashlib import sha256

from rubric_ci.reports import wording
from rubric_ci.reports.annotations import annotations
from rubric_ci.text import escape
from rubric_ci.values.diagnostics import Annotation
from rubric_ci.values.json_value import JSON
from rubric_ci.values.report import RunReport

_LEVELS = {"error": "error", "warning": "warning", "notice": "note"}
_RULES: Mapping[str, tuple[str, str]] = {
    "fail": (
        "A case fails: a gate is missed, or the score is too low.",
        "Read the judge's reasoning, then change the prompt, the agent or the criterion.",
    ),
    "borderline": ("A case is between pass and fail.", "Check the criteria that lost points."),
    "no-verdict": (
        "A case ended without a verdict: target, judge, script or budget failed.",
        "Fix the cause that the reason names and run again; the case neither passes nor fails.",
    ),
    "waived": (
        "A case passes but for criteria that are waived.",
        "Fix the failure and remove its entry from waivers.yaml before it ends.",
    ),
    "weaker-grading": (
        "A change makes the grading weaker.",
        "Check that it is meant; `gate.on_weaker_grading` decides whether it fails the gate.",
    ),
    "changed-grading": (
        "A change edits the grading, and may make it weaker.",
        "Check that it is meant; `gate.on_changed_grading` decides whether it fails the gate.",
    ),
    "waiver": (
        "A waiver is not in force, or is not needed any more.",
        "Remove or renew the entry of waivers.yaml.",
    ),
    "skipped": (
        "A case has nothing to grade.",
        "Write rubrics for it, or draft them with `rubric-ci generate rubrics`.",
    ),
    "warning": (
        "An answer or its mark needs a check.",
        "Read the answer yourself; it may have misled the judge.",
    ),
}


def render(report: RunReport) -> str:
    """Return one SARIF log; paths are relative to the root of the repository."""
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [_run(report)],
    }
    return json.dumps(log, ensure_ascii=False, indent=2) + "\n"


def _run(report: RunReport) -> dict[str, JSON]:
    name, _, version = report.tool.partition(" ")
    driver = {
        "name": escape.visible(name),
        "version": escape.visible(version),
        "informationUri": "https://github.com/rubric-ci/rubric-ci",
        "rules": [_rule(name, about, help_) for name, (about, help_) in _RULES.items()],
    }
    return {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(report)],
        "results": [_result(entry) for entry in annotations(report)],
    }


def _invocation(report: RunReport) -> dict[str, JSON]:
    notes = (*wording.basis(report), *report.notes)
    return {
        "executionSuccessful": not report.scope.unfinished,
        "toolExecutionNotifications": [
            {"level": "note", "message": {"text": _plain(text)}} for text in notes
        ],
    }


def _rule(name: str, about: str, help_: str) -> dict[str, JSON]:
    return {
        "id": name,
        "shortDescription": {"text": about},
        "fullDescription": {"text": about},
        "help": {"text": help_},
    }


def _result(entry: Annotation) -> dict[str, JSON]:
    suppressed = [{"kind": "external", "justification": _plain(entry.message)}]
    return {
        **({"suppressions": suppressed} if entry.rule == "waived" else {}),
        "ruleId": entry.rule,
        "level": _LEVELS[entry.level],
        "message": {"text": _plain(f"{entry.title}\n{entry.message}")},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": escape.path_target(entry.file)},
                    "region": {"startLine": entry.line},
                }
            }
        ],
        "partialFingerprints": {"rubricCi/v1": sha256(_identity(entry).encode()).hexdigest()},
    }


def _plain(text: str) -> str:
    """Break `[text](target)`, which SARIF viewers render as a link."""
    return escape.visible(text).replace("](", "] (")


def _identity(entry: Annotation) -> str:
    """Return an identity that depends neither on the reasoning nor on the line."""
    return escape.visible("\n".join((entry.file, *entry.subject)))
