"""The budget of false alarms of a comparison, as `rubric-ci.yaml` sets it."""

from rubric_ci.model.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RegressionConfig:
    """How a comparison with a pinned reference keeps its false alarms within a budget."""

    false_alarms: float = 0.05  # probability that a comparison without a change is worse
    reference_trials: int = 15  # per case of the reference; with fewer, the budget does not apply
    confirm: int = 10  # trials of a suspect in all; 1: suspects get no further trial
    further_trials: int = 4  # at least, on both sides, of a case that seems broken or fixed
    tolerance: float = 0.05  # a score drop that is still not a regression
    cluster: str = "case"  # of cases without a conversation: "case", "file" or "tag:GLOB"
