"""The results of a case in the names of OpenTelemetry's conventions for tests and evaluations."""

import json
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from rubric_ci.values.results import (
    Assessed,
    CaseResult,
    CriterionResult,
    EvaluatorResult,
)

Facts: TypeAlias = dict[str, str | float | bool]

EVENT: Final = "gen_ai.evaluation.result"
_STATUS: Final = {"pass": "pass", "borderline": "pass", "fail": "fail"}


def about_case(case: CaseResult, *, with_content: bool) -> Facts:
    """Return the attributes of the span of a case; question and answer on demand."""
    facts: Facts = {
        "test.case.name": case.id,
        "test.suite.name": case.file,
        "rubric_ci.line": case.line,
        "rubric_ci.outcome": case.outcome,
        "rubric_ci.reason": case.reason,
    }
    if case.verdict:
        facts["test.case.result.status"] = _STATUS[case.verdict]
        facts |= {"rubric_ci.verdict": case.verdict, "rubric_ci.score": case.score}
    if case.change:
        facts["rubric_ci.change"] = case.change
    if case.status != "skipped":
        facts["rubric_ci.target"] = case.target
        if with_content:
            facts["gen_ai.input.messages"] = _message("user", case.question)
            facts["gen_ai.output.messages"] = _message("assistant", case.answer)
    return {key: fact for key, fact in facts.items() if fact != ""}


def results(case: CaseResult) -> Iterator[Facts]:
    """Yield the attributes of an event for each criterion, and each evaluator without any."""
    evaluators = case.evaluators
    for each in evaluators:
        prefix = f"{each.name}/" if len(evaluators) > 1 else ""
        if isinstance(each, Assessed) and each.criteria:
            yield from (_criterion(found, prefix) for found in each.criteria if found.applies)
        else:
            yield _evaluator(each)


def _criterion(found: CriterionResult, prefix: str) -> Facts:
    label = str(found.mark)
    if isinstance(found.mark, bool):
        label = "fail" if found.mark is found.fault else "pass"
    return _event(
        f"{prefix}{found.id}",
        found.normalised,
        label,
        found.reasoning,
        {"rubric_ci.kind": found.kind, "rubric_ci.gated": found.gated},
    )


def _evaluator(found: EvaluatorResult) -> Facts:
    if isinstance(found, Assessed):
        about: Facts = {"rubric_ci.kind": found.type, "rubric_ci.gated": bool(found.gated_by)}
        return _event(found.name, found.score, found.verdict, found.reasoning, about)
    return {
        "gen_ai.evaluation.name": found.name,
        "gen_ai.evaluation.explanation": found.reason,
        "rubric_ci.kind": found.type,
        "error.type": "no_verdict",
    }


def _event(
    name: str, value: float, label: str, why: str, about: Mapping[str, str | float | bool]
) -> Facts:
    explained: Facts = {"gen_ai.evaluation.explanation": why} if why else {}
    return {
        "gen_ai.evaluation.name": name,
        "gen_ai.evaluation.score.value": float(value),
        "gen_ai.evaluation.score.label": label,
        **explained,
        **about,
    }


def _message(role: str, text: str) -> str:
    parts = [{"type": "text", "content": text}]
    return json.dumps([{"role": role, "parts": parts}], ensure_ascii=False) if text else ""
