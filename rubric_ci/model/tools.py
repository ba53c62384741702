"""What the labour of grading may use of the world, handed in by the command."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rubric_ci.model.config import JudgeConfig
from rubric_ci.model.exchange import Ask
from rubric_ci.model.scoring import DEFAULT_THRESHOLDS, Thresholds


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """One value for every target and evaluator of a run."""

    ask: Ask  # to a model: live, recorded or replayed, within the budget
    root: Path  # of the repository
    environment: Mapping[str, str]
    judge: JudgeConfig | None = None
    thresholds: Thresholds = DEFAULT_THRESHOLDS
