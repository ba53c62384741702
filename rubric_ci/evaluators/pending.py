"""An evaluator type that a file may name but that this version cannot run."""

from rubric_ci.model.evals import PendingSpec
from rubric_ci.model.report import Unassessed


def pending(spec: PendingSpec) -> Unassessed:
    """Say so: a case that counts on it has no verdict."""
    return Unassessed(
        name=spec.name,
        type=spec.type,
        weight=spec.weight,
        line=spec.span.line,
        reason=f"evaluators of type `{spec.type}` cannot be run by this version",
    )
