"""The source that a run is compared with, and the findings about the run as a whole.

How each case differs is part of its result (`change`, `change_reason`, `before`).
"""

from typing import Literal, TypeAlias

from rubric_ci.model.dataclass import dataclass
from rubric_ci.model.reference_log import CaseKey, ReferenceMove

Source: TypeAlias = Literal["commit", "report", "reference"]
"""A commit that was graded in the same run, an earlier report, or a pinned reference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuspectCounts:
    """The cases whose trials are mostly below the reference, and what further trials showed."""

    false_alarms: float  # the budget: probability of a false alarm per comparison
    suspects: int
    confirmed: int  # broken
    undecided: int  # of those not confirmed, the ones with too few trials
    further_trials: int  # of a suspect that is not confirmed, at most
    p_values: tuple[float, float] | None = None  # range of the confirmed, adjusted for all cases


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceInfo:
    """The baseline that a run is compared with: the run that was measured, and why it counts."""

    commit: str  # empty: unknown
    measured_at: str  # RFC 3339, UTC
    age_days: int | None = None  # at the start of this run; None: this run is older
    trials: int  # per case
    reason: str = ""  # of the decision that made it the reference; empty: not pinned
    moves: tuple[ReferenceMove, ...] = ()  # of some cases since then, the newest last


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowSlide:
    """Evidence over all nights since the decision that the mean is below the reference."""

    evidence: float
    threshold: float  # of the evidence, from which the mean counts as lower
    nights: int  # with this run
    since: str = ""  # start of the likely first night with lower scores; empty: none
    detected: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The source of a comparison, and the mean difference of the cases that both sides graded."""

    source: Source
    ref: str = ""  # as the user named it: a revision, "auto", a file or a folder
    commit: str = ""  # empty: unknown
    tolerance: float = 0.0  # a score may fall by this much
    paired: int = 0  # cases with both scores
    mean_difference: float | None = None  # of first trials; None: not computed
    interval: tuple[float, float] | None = None  # 95 %; None: one cluster, or equal differences
    p_value: float | None = None  # paired permutation test; None: no case has both scores
    clusters: int = 0  # independent groups of the paired cases
    suspects: SuspectCounts | None = None  # None: no budget of false alarms applies
    significant: bool = False  # the mean difference is statistically significant
    regressed: bool = False  # a case is broken, or the mean fell
    suspected: bool = False  # worse than a pinned reference, and the night before was not
    worse_cases: tuple[CaseKey, ...] = ()  # than a pinned reference, in this night
    reference: ReferenceInfo | None = None  # None: an unknown commit, and not pinned
    slide: SlowSlide | None = None  # None: not compared with a pinned reference
    log_products: tuple[float, ...] = ()  # of this run, for the detector of slides
    judge_moved: str = ""  # why marks are not comparable with the reference's; empty: they are
    notes: tuple[str, ...] = ()

    @property
    def lower(self) -> bool:
        """True if the mean score is significantly lower."""
        return self.significant and self.mean_difference is not None and self.mean_difference < 0

    @property
    def fell(self) -> bool:
        """True if the mean score is lower, not only suspected, or slid over many nights."""
        slid = self.slide is not None and self.slide.detected
        return slid or (self.lower and not self.suspected)
