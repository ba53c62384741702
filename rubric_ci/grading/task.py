"""One case to grade, with its target and its judge."""

from dataclasses import dataclass

from rubric_ci.model.config import JudgeConfig, Target
from rubric_ci.model.evals import EvalCase


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One case to grade, its target, its judge, and why it runs."""

    case: EvalCase
    target: Target
    judge: JudgeConfig | None = None  # None: the judge of the context
    why: str = ""
    cluster: str = ""  # of cases that are not independent of each other
    waived: frozenset[str] = frozenset()  # ids of criteria

    def trials(self, default: int) -> int:
        """Return how many times the case is answered and graded."""
        return self.case.trials.count if self.case.trials else default
