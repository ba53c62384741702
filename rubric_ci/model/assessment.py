"""The result of an evaluator, from what it found."""

from rubric_ci.model.evals import EvaluatorSpec
from rubric_ci.model.results import Assessed, Assessment, Unassessed
from rubric_ci.model.scoring import Thresholds, verdict
from rubric_ci.model.usage import NOTHING_USED, Usage


def assessed(spec: EvaluatorSpec, found: Assessment, thresholds: Thresholds) -> Assessed:
    """Return the result of an evaluator that gave a score."""
    return Assessed(
        name=spec.name,
        type=spec.type,
        weight=spec.weight,
        line=spec.span.line,
        verdict=verdict(found.score, found.gated_by, thresholds),
        score=found.score,
        gated_by=found.gated_by,
        reasoning=found.reasoning,
        criteria=found.criteria,
        hits=found.hits,
        misses=found.misses,
        details=found.details,
        warnings=found.warnings,
        judge=found.judge,
        marks=found.marks,
        cached_marks=found.cached_marks,
        usage=found.usage,
    )


def unassessed(
    spec: EvaluatorSpec, reason: str, *, judge: str = "", usage: Usage = NOTHING_USED
) -> Unassessed:
    """Return the result of an evaluator that gave no score."""
    return Unassessed(
        name=spec.name,
        type=spec.type,
        weight=spec.weight,
        line=spec.span.line,
        reason=reason,
        judge=judge,
        usage=usage,
    )
