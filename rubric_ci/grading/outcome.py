"""The result of a case: graded from its evaluators, errored or skipped."""

import shlex
from collections.abc import Sequence

from rubric_ci.grading.reason import reason
from rubric_ci.grading.task import Task
from rubric_ci.model.config import RecordedTarget
from rubric_ci.model.evals import EvalCase
from rubric_ci.model.llm_calls import Usage
from rubric_ci.model.results import (
    Answer,
    Assessed,
    CaseResult,
    Errored,
    EvaluatorResult,
    Graded,
    Skipped,
    Unassessed,
)
from rubric_ci.model.scoring import Score, Thresholds, Verdict, combine
from rubric_ci.model.waivers import with_waivers


def concluded(
    task: Task,
    answer: Answer,
    results: Sequence[EvaluatorResult],
    thresholds: Thresholds,
    seconds: float,
) -> CaseResult:
    """Combine the evaluators with a weight; if one of them has no score, the case has none."""
    counted = [result for result in results if result.weight > 0]
    if why_none := _why_no_score(counted):
        return errored(task, why_none, answer, tuple(results), seconds)
    assessed = [result for result in counted if isinstance(result, Assessed)]
    score = combine(((result.weight, _score(result)) for result in assessed), thresholds)
    graded = Graded(
        file=task.case.file,
        line=task.case.span.line,
        id=task.case.id,
        verdict=score.verdict.value,
        score=score.value,
        reason=reason(score, assessed, thresholds),
        cluster=task.cluster,
        gated_by=score.gated_by,
        why=task.why,
        tags=task.case.tags,
        target=task.target.name,
        question=task.case.question,
        expected_outcome=task.case.expected_outcome,
        answer=answer.text,
        recorded=isinstance(task.target, RecordedTarget),
        answer_reused=bool(answer.answered_at),
        answered_at=answer.answered_at,
        evaluators=tuple(results),
        usage=_spent(answer, results),
        duration_seconds=seconds,
    )
    return with_waivers(graded, task.waived, thresholds)


def _why_no_score(counted: Sequence[EvaluatorResult]) -> str:
    """Return why evaluators with a weight have no score together; "" if they have one."""
    for result in counted:
        if isinstance(result, Unassessed):
            return f"{result.name}: {result.reason}"
    return "" if counted else "every evaluator has weight 0; set a weight above 0 for at least one"


def _score(result: Assessed) -> Score:
    return Score(value=result.score, verdict=Verdict(result.verdict), gated_by=result.gated_by)


def errored(
    task: Task,
    why_none: str,
    answer: Answer,
    results: tuple[EvaluatorResult, ...] = (),
    seconds: float | None = None,
) -> Errored:
    """Return the result of a case without a verdict."""
    return Errored(
        file=task.case.file,
        line=task.case.span.line,
        id=task.case.id,
        reason=why_none,
        why=task.why,
        tags=task.case.tags,
        target=task.target.name,
        question=task.case.question,
        expected_outcome=task.case.expected_outcome,
        answer=answer.text,
        recorded=isinstance(task.target, RecordedTarget) and bool(answer.text),
        answer_reused=bool(answer.answered_at),
        answered_at=answer.answered_at,
        evaluators=results,
        usage=_spent(answer, results),
        duration_seconds=seconds,
    )


def skipped(task: Task, why_not: str) -> Skipped:
    """Return the result of a case that is not graded."""
    return Skipped(
        file=task.case.file,
        line=task.case.span.line,
        id=task.case.id,
        reason=why_not,
        why=task.why,
        question=task.case.question,
        expected_outcome=task.case.expected_outcome,
    )


def nothing_to_grade(case: EvalCase) -> str:
    """Return why a case without evaluators is skipped, and what to do."""
    reason = "no rubrics and no evaluators"
    draft = f"`rubric-ci generate rubrics {shlex.quote(case.file)}` drafts rubrics"
    if not case.expected_outcome:
        return f"{reason}; {draft}"
    other = "`default_evaluator: llm_judge` in rubric-ci.yaml lets the judge grade"
    return f"{reason}; {draft}, {other}"


def _spent(answer: Answer, results: Sequence[EvaluatorResult]) -> Usage:
    return sum((result.usage for result in results), answer.usage)
