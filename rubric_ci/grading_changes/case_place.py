"""A change to the grading at a line of a case."""

from rubric_ci.model.evals import EvalCase
from rubric_ci.model.grading_changes import Direction, GradingChange, GradingChangeKind


def of_case(
    case: EvalCase,
    kind: GradingChangeKind,
    direction: Direction,
    about: str,
    before: str,
    after: str,
    line: int = 0,
) -> GradingChange:
    """Return a change at a line of a case; 0: at the case."""
    return GradingChange(
        kind=kind,
        direction=direction,
        about=about,
        file=case.file,
        line=line or case.span.line,
        before=before,
        after=after,
    )
