"""Reports for tests: small builders with defaults for all fields."""

from typing import Any

from rubric_ci.gate.comparison import verdicts
from rubric_ci.values.gate import GateInfo
from rubric_ci.values.report import RunReport, run_verdict, totals
from rubric_ci.values.results import Assessed, CaseResult, CriterionResult, Errored, Graded, Skipped
from rubric_ci.values.scoring import Verdict


def a_criterion(name: str = "c", **changes: Any) -> CriterionResult:
    facts: dict[str, Any] = {
        "kind": "checklist",
        "line": 5,
        "text": "asked",
        "weight": 1.0,
        "mark": False,
        "normalised": 0.0,
        "gated": True,
        "gate": "required",
        "reasoning": "said",
        "evidence": "quote",
    }
    return CriterionResult(id=name, **{**facts, **changes})


def a_rubric(*criteria: CriterionResult, **changes: Any) -> Assessed:
    facts: dict[str, Any] = {
        "name": "rubric",
        "type": "rubric",
        "weight": 1.0,
        "line": 4,
        "score": 0.0,
        "verdict": "fail",
        "gated_by": tuple(criterion.id for criterion in criteria if criterion.gated),
    }
    return Assessed(criteria=criteria, **{**facts, **changes})


def graded(
    name: str, verdict: Verdict = "fail", *criteria: CriterionResult, **changes: Any
) -> Graded:
    facts: dict[str, Any] = {
        "file": "e.yaml",
        "line": 3,
        "score": {"pass": 1.0, "borderline": 0.7, "fail": 0.0}[verdict],
        "reason": "because",
        "gated_by": tuple(criterion.id for criterion in criteria if criterion.gated),
    }
    facts |= changes
    own = a_rubric(*criteria, verdict=verdict, score=facts["score"], gated_by=facts["gated_by"])
    return Graded(id=name, verdict=verdict, **{"evaluators": (own,), **facts})


def errored(name: str, reason: str = "the judge was silent", **changes: Any) -> Errored:
    return Errored(id=name, reason=reason, **{"file": "e.yaml", "line": 3, **changes})


def skipped(name: str, reason: str = "no rubrics") -> Skipped:
    return Skipped(file="e.yaml", line=3, id=name, reason=reason)


def a_report(*cases: CaseResult, **changes: Any) -> RunReport:
    verdict = run_verdict(cases)
    holds = verdict not in {"fail", "error"}
    facts: dict[str, Any] = {
        "tool": "rubric-ci 0",
        "started_at": "2026-01-01T00:00:00Z",
        "duration_seconds": 1.0,
        "verdict": verdict,
        "gate": GateInfo(fail_on="fail", passing=0.8, borderline=0.6, holds=holds),
        "totals": totals(cases),
        "cases": cases,
    }
    if against := changes.get("against"):
        facts["comparison"] = verdicts.of_commit(against, cases)
    return RunReport(**{**facts, **changes})
