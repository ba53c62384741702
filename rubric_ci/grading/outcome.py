"""The result of a case: graded, with its reason in one line, errored or skipped."""

import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from rubric_ci.grading.resolve import Task
from rubric_ci.values.answers import pictures_of, reported
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.media import Picture
from rubric_ci.values.question import question_id
from rubric_ci.values.results import (
    Answer,
    Assessed,
    CaseResult,
    CriterionResult,
    Errored,
    EvaluatorResult,
    Graded,
    Skipped,
    Unassessed,
    losses,
)
from rubric_ci.values.scoring import (
    CANNOT_ASSESS,
    DEFAULT_THRESHOLDS,
    YES_OR_NO,
    Score,
    Thresholds,
    combine,
    format_score,
)
from rubric_ci.values.waivers import with_waivers


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
        return errored(task, why_none, answer, results, seconds)
    assessed = [result for result in counted if isinstance(result, Assessed)]
    score = combine(((result.weight, _score(result)) for result in assessed), thresholds)
    graded = Graded(
        **_of_task(task),
        **_of_answer(task, answer, results, seconds),
        verdict=score.verdict,
        score=score.value,
        reason=reason(score, assessed, thresholds),
        cluster=task.cluster,
        gated_by=score.gated_by,
        question_id=question_id(task.case, task.target),
        recorded=bool(task.target.answers),
    )
    return with_waivers(graded, task.waived, thresholds)


def _why_no_score(counted: Sequence[EvaluatorResult]) -> str:
    for result in counted:
        if isinstance(result, Unassessed):
            return f"{result.name}: {result.reason}"
    return "" if counted else "every evaluator has weight 0; set a weight above 0 for at least one"


def _score(result: Assessed) -> Score:
    return Score(value=result.score, verdict=result.verdict, gated_by=result.gated_by)


def errored(
    task: Task,
    why_none: str,
    answer: Answer,
    results: Sequence[EvaluatorResult] = (),
    seconds: float | None = None,
) -> Errored:
    return Errored(
        **_of_task(task),
        **_of_answer(task, answer, results, seconds),
        reason=why_none,
        recorded=bool(task.target.answers and answer.text),
    )


def skipped(task: Task, why_not: str) -> Skipped:
    return Skipped(**_of_task(task), reason=why_not)


def _of_task(task: Task) -> dict[str, Any]:
    """Return the facts that a result of any kind has of its case."""
    return {
        "file": task.case.file,
        "line": task.case.span.line,
        "id": task.case.id,
        "why": task.why,
        "tags": task.case.tags,
        "target": task.target.name,
        "question": task.case.question,
        "expected_outcome": task.case.expected_outcome,
    }


def _of_answer(
    task: Task, answer: Answer, results: Sequence[EvaluatorResult], seconds: float | None
) -> dict[str, Any]:
    return {
        "answer": answer.text,
        "answer_reused": bool(answer.answered_at),
        "answered_at": answer.answered_at,
        "evaluators": tuple(results),
        "usage": sum((result.usage for result in results), answer.usage),
        "duration_seconds": seconds,
        "trace": reported(answer),
        "file_changes": answer.work.changes if answer.work else (),
        "media": pictures(task.case, answer),
    }


def pictures(case: EvalCase, answer: Answer) -> tuple[Picture, ...]:
    if not (case.media or case.reference_media or answer.media):
        return ()
    return (
        *pictures_of("question", case.media),
        *pictures_of("reference", case.reference_media),
        *pictures_of("answer", answer.media),
    )


def nothing_to_grade(case: EvalCase) -> str:
    if case.inapplicable:
        return "no criterion applies to the tags and variables of the case"
    reason = "no rubrics and no evaluators"
    draft = f"`rubric-ci generate rubrics {shlex.quote(case.file)}` drafts rubrics"
    if not case.expected_outcome:
        return f"{reason}; add an `expected_outcome`, from which {draft}"
    other = "`default_evaluator: llm_judge` in rubric-ci.yaml lets the judge grade"
    return f"{reason}; {draft}, {other}"


_LONGEST_REASON = 240


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loss:
    """The points lost by one criterion, or by one evaluator with its own misses."""

    name: str
    points: float
    words: str


def reason(
    score: Score, evaluators: Sequence[Assessed], thresholds: Thresholds = DEFAULT_THRESHOLDS
) -> str:
    """Return the missed gate that loses most, or the score and, without a pass, that loss."""
    if missed := list(_missed_gates(evaluators)):
        first = max(missed, key=lambda loss: loss.points)
        return first.words + _more(len(missed) - 1)
    summary = _score_and_threshold(score, thresholds)
    worst = max(_losses(evaluators), key=lambda loss: loss.points, default=None)
    if worst is None or worst.points <= 0:
        return f"{summary}; no points lost"
    if score.verdict == "pass":
        return summary
    return f"{summary}; largest loss: `{worst.name}`{_clause(worst.words)}"


def _more(count: int) -> str:
    if count == 0:
        return ""
    return f" (and {count} more missed gate{'s' if count > 1 else ''})"


def _missed_gates(evaluators: Sequence[Assessed]) -> Iterator[_Loss]:
    for evaluator in (e for e in evaluators if e.weight > 0 and e.gated_by):
        named = {c.id: (c, points) for c, points in losses(evaluator)}
        whole = None, evaluator.weight * (1 - evaluator.score)
        for gate in evaluator.gated_by:
            criterion, points = named.get(gate, whole)
            words = _missed(gate, criterion, evaluator)
            yield _Loss(name=gate, points=points, words=words)


def _missed(gate: str, criterion: CriterionResult | None, evaluator: Assessed) -> str:
    if criterion is None:
        return f"`{gate}` of `{evaluator.name}` misses its gate{_clause(evaluator.reasoning)}"
    reasoning = _clause(criterion.reasoning)
    if criterion.mark == CANNOT_ASSESS:
        rule = "is required" if criterion.kind in YES_OR_NO else f"requires {criterion.gate}"
        return f"`{gate}` {rule} and cannot be assessed{reasoning}"
    if criterion.fault:
        return f"`{gate}` must not be present and is{reasoning}"
    if criterion.kind in YES_OR_NO:
        return f"`{gate}` is required and not satisfied{reasoning}"
    return f"`{gate}` requires {criterion.gate} and got {criterion.mark}{reasoning}"


def _score_and_threshold(score: Score, thresholds: Thresholds) -> str:
    match score.verdict:
        case "pass":
            return f"score {format_score(score.value)} reaches {_threshold(thresholds.passing)}"
        case "borderline":
            return f"score {format_score(score.value)} is below {_threshold(thresholds.passing)}"
        case "fail":
            return f"score {format_score(score.value)} is below {_threshold(thresholds.borderline)}"


def _threshold(value: float) -> str:
    return f"{value:.2f}" if round(value, 2) == value else f"{value:g}"


def _losses(evaluators: Sequence[Assessed]) -> Iterator[_Loss]:
    for evaluator in (e for e in evaluators if e.weight > 0):
        own = bool(evaluator.misses) or not any(c.weight for c in evaluator.criteria if c.applies)
        for c, points in () if own else losses(evaluator):
            if points:
                yield _Loss(name=c.id, points=points, words=c.reasoning)
        if own:  # no criteria, or none with a weight, as the gate of a composite
            points = evaluator.weight * (1 - evaluator.score)
            words = "; ".join(evaluator.misses) or evaluator.reasoning
            yield _Loss(name=evaluator.name, points=points, words=words)


def _clause(words: str) -> str:
    line = " ".join(words.split())
    if not line:
        return ""
    return f": {line}" if len(line) <= _LONGEST_REASON else f": {line[:_LONGEST_REASON]}…"
