"""A run compared with a commit, a report or a reference, and the findings about it as a whole.

How each case differs is part of its result (`change`, `change_reason`, `before`).
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.media import Picture
from rubric_ci.values.scoring import MarkValue
from rubric_ci.values.trace import CaseTrace, FileChange

Source: TypeAlias = Literal["commit", "report", "reference"]
"""A commit that was graded in the same run, an earlier report, or a pinned reference."""

LOG_VERSION = 1

CaseKey: TypeAlias = tuple[str, str]
"""File and id."""

GateState: TypeAlias = Literal["pass", "fail", "no-verdict"]
"""`no-verdict`: some case has none, and no case fails the gate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuspectCounts:
    """The cases whose trials are mostly below the reference, and the results of further trials."""

    false_alarms: float  # the budget: probability of a false alarm per comparison
    suspects: int
    confirmed: int  # broken
    undecided: int  # of those not confirmed, the ones with too few trials
    flipped: int = 0  # of those not confirmed, the ones that repeat an answer
    further_trials: int  # of a suspect that is not confirmed, at most
    p_values: tuple[float, float] | None = None  # range of the confirmed, adjusted for all cases


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceMove:
    """A decision about some cases, as the report of a later run shows it."""

    commit: str  # empty: unknown
    measured_at: str  # RFC 3339, UTC
    age_days: int | None = None  # at the start of the run; None: the run is older
    cases: int
    reason: str


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
class Drop:
    """More cases are worse than better at the head, in a run with its base, than chance explains.

    Either all cases are tested, or those that are flipped: they differ by answers that repeat.
    Answers of the base that came from the cache are asked for again before it counts.
    """

    cases: int  # graded on both sides
    fewer_pass: int  # than at the base
    more_fail: int
    level: float  # of the test
    p_value: float  # sign flips of the first trials' verdicts, by cluster, one-sided
    flipped: tuple[int, int] | None = None  # worse and better; None: all cases are tested
    again: int = 0  # answers of the base that were asked for again
    again_p_value: float | None = None  # with these answers; None: none was needed
    again_level: float = 0.0
    confirmed: bool
    base_moved: bool = False  # not confirmed: the base itself is worse today
    problem: str = ""  # why the base could not be asked again; then it is undecided


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
    drop: Drop | None = None  # in a run with its base; None: chance explains the difference
    judge_moved: str = ""  # why marks are not comparable with the reference's; empty: they are
    notes: tuple[str, ...] = ()

    @property
    def lower(self) -> bool:
        """True if the mean score is significantly lower."""
        return self.significant and self.mean_difference is not None and self.mean_difference < 0

    @property
    def fell(self) -> bool:
        """True if the mean is lower, not only suspected, or slid over many nights."""
        slid = self.slide is not None and self.slide.detected
        dropped = self.drop is not None and self.drop.confirmed
        return slid or dropped or (self.lower and not self.suspected)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Why the trials of a run are the reference."""

    reason: str
    commit: str = ""  # of the run; empty: unknown
    measured_at: str  # start of the run, RFC 3339, UTC
    decided_at: str  # RFC 3339, UTC
    cases: int  # that the decision moved
    partial: bool = False  # the other cases kept their reference


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """One run that was compared with the reference."""

    started_at: str  # RFC 3339, UTC
    commit: str = ""
    run_url: str = ""
    gate: GateState
    worse: bool  # than the reference, or suspected
    regressed: tuple[CaseKey, ...] = ()  # cases that are worse in this night
    lower: bool = False  # the mean score, significantly
    log_products: tuple[float, ...] = ()  # evidence of a lower mean, per bet; empty: not compared
    mean_difference: float | None = None  # from the reference, of first trials; None: not known


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceLog:
    """The decisions, the newest last, and the nights since, the oldest first."""

    version: int = LOG_VERSION
    decisions: tuple[Decision, ...]
    nights: tuple[Night, ...] = ()

    @property
    def decision(self) -> Decision:
        """The decision that moved the reference last."""
        return self.decisions[-1]

    @property
    def whole(self) -> Decision:
        """The last decision about all cases."""
        return next((d for d in reversed(self.decisions) if not d.partial), self.decisions[0])

    @property
    def moves(self) -> tuple[Decision, ...]:
        """The decisions about some cases since `whole`, the newest last."""
        place = max(n for n, decision in enumerate(self.decisions) if decision is self.whole)
        return self.decisions[place + 1 :]

    def last(self, started_at: str | None = None) -> Night | None:
        """Return the last night with a verdict, before a run, against the present reference."""
        known = self.nights if started_at is None else self.before(started_at)
        since = self.whole.decided_at
        nights = [n for n in known if n.gate != "no-verdict" and n.started_at >= since]
        return nights[-1] if nights else None

    def before(self, started_at: str) -> tuple[Night, ...]:
        """Return the nights before a run."""
        return tuple(night for night in self.nights if night.started_at < started_at)

    def with_night(self, night: Night) -> "ReferenceLog":
        """Return the log with a night; it replaces the entry of the same run."""
        others = [each for each in self.nights if each.started_at != night.started_at]
        ordered = sorted([*others, night], key=lambda each: each.started_at)
        return replace(self, nights=tuple(ordered))

    def with_decision(self, decision: Decision, *, keeps_evidence: bool = False) -> "ReferenceLog":
        """Return the log with a decision; evidence against the earlier reference is dropped.

        `keeps_evidence`: unless the reference only rose, which no slide can hide behind.
        """
        nights = tuple(replace(night, log_products=()) for night in self.nights)
        kept = self.nights if keeps_evidence else nights
        return replace(self, decisions=(*self.decisions, decision), nights=kept)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegressionConfig:
    """How a comparison with a pinned reference keeps its false alarms within a budget."""

    false_alarms: float = 0.05  # probability that a comparison without a change is worse
    reference_trials: int = 15  # per case of the reference; with fewer, the budget does not apply
    confirm: int = 10  # trials of a suspect in all; 1: suspects get no further trial
    further_trials: int = 4  # at least, on both sides, of a case that seems broken or fixed
    tolerance: float = 0.05  # a score drop that is still not a regression
    cluster: str = "case"  # of cases without a conversation: "case", "file" or "tag:GLOB"


@dataclass(frozen=True, slots=True, kw_only=True)
class SentinelItem:
    """One criterion of one answer: its remembered mark and the marks of later requests."""

    file: str
    id: str
    evaluator: str
    criterion: str
    text: str  # of the criterion
    answer: str
    trace: CaseTrace | None = None  # of a criterion about work
    file_changes: tuple[FileChange, ...] = ()
    mark: MarkValue
    repeats: tuple[MarkValue, ...] = ()  # asked when the reference was measured
    now: tuple[MarkValue, ...] = ()  # asked in this run

    @property
    def media(self) -> tuple[Picture, ...]:
        """No images: a reference keeps none, so that an answer with one is not remembered."""
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentinel:
    """The judge, checked against a dozen remembered judgements."""

    items: tuple[SentinelItem, ...]
    p_value: float | None = None  # that the judge differs no more than from itself; None: not asked
    moved: bool = False

    @property
    def repeated(self) -> tuple[int, int]:
        """Return how many repeats differ from the remembered marks, of how many."""
        return _differing([(item.mark, item.repeats) for item in self.items])

    @property
    def asked(self) -> tuple[int, int]:
        """Return how many marks of this run differ from the remembered ones, of how many."""
        return _differing([(item.mark, item.now) for item in self.items])


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratum:
    """The labelled answers among those with one judged verdict."""

    labelled: int
    passes: float  # that people give; a tie between people counts half
    of: int = 0  # answers of the reports that these were drawn from


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedPassRate:
    """The judged pass rate, the corrected one with its 95 % interval, and their labels.

    Without a value, `withheld` says why; both are empty in the report of a shard.
    """

    judged: float  # share of the graded cases that the judge passes
    value: float | None = None
    low: float | None = None
    high: float | None = None
    withheld: str = ""
    labels: int = 0  # labelled answers
    labelled_from: str = ""  # date of the first draw, such as 2026-10-02
    labelled_to: str = ""  # date of the last draw
    passes: Stratum = Stratum(labelled=0, passes=0)  # labelled answers that the judge passes
    fails: Stratum = Stratum(labelled=0, passes=0)  # and those that it fails


def _differing(marks: Sequence[tuple[MarkValue, Sequence[MarkValue]]]) -> tuple[int, int]:
    each = [mark == other for mark, others in marks for other in others]
    return len(each) - sum(each), len(each)
