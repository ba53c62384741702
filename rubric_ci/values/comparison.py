"""A run compared with a commit, a report or a reference, and the findings about it as a whole.

How each case differs is part of its result (`change`, `change_reason`, `before`).
"""

from typing import Annotated, Final, Literal, TypeAlias

from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.written_keys import Key

Source: TypeAlias = Literal["commit", "report", "reference"]
"""A commit that was graded in the same run, an earlier report, or a pinned reference."""

OTHER_QUESTION: Final = "its question changed"  # why two answers are not comparable

OF_SHARDS: Final = "a merge of shards asks nothing"  # why the old version has no new answer

CaseKey: TypeAlias = tuple[str, str]
"""File and id."""

Repeated: TypeAlias = Literal["broken", "note"]
"""`note`: it is shown and does not fail the gate."""

GateState: TypeAlias = Literal["pass", "fail", "no-verdict"]
"""`no-verdict`: some case has none, and no case fails the gate."""


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
class Together:
    """The test of all cases together, in a comparison of 100 independent clusters or more.

    The old version is asked again before its result counts: a model or the judge may have moved.
    """

    cases: int  # with a verdict on both sides
    clusters: int
    fewer_pass: int  # than before
    more_fail: int
    p_value: float  # sign flips of first verdicts, by cluster, one-sided
    again: int = 0  # answers of the old version that were asked for again
    again_p_value: float | None = None  # with these answers; None: not asked
    worse: bool  # with both
    before_moved: bool = False  # the old version is worse today as well
    problem: str = ""  # why the old version has no new answer; then it is undecided


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The other side of a comparison, and the counts of the cases that both sides graded."""

    source: Source
    ref: str = ""  # as the user named it: a revision, "auto", a file or a folder
    commit: str = ""  # empty: unknown
    compared: int = 0  # cases with a verdict on both sides
    passed: int = 0  # of those, in this run
    passed_before: int = 0
    mean: float | None = None  # score of those, as it is shown; None: no such case
    mean_before: float | None = None
    together: Together | None = None  # None: fewer than 100 clusters
    worse: bool = False  # a case is broken, or all cases together are worse
    suspected: bool = False  # worse than a pinned reference, and the night before was not
    worse_cases: tuple[CaseKey, ...] = ()  # than a pinned reference, in this night
    reference: ReferenceInfo | None = None  # None: an unknown commit, and not pinned
    judge_moved: str = ""  # why marks are not comparable with the reference's; empty: they are
    notes: tuple[str, ...] = ()

    @property
    def fell(self) -> bool:
        """True if all cases together are worse."""
        return self.together is not None and self.together.worse


@dataclass(frozen=True, slots=True, kw_only=True)
class RegressionConfig:
    """How a suspected break is asked again, and which cases are one."""

    variants: Annotated[bool, Key(False)] = True
    """From the second answer on, send the message with other blanks at its end. `false` sends it as
    written."""
    repeated: Annotated[Repeated, Key("note", title="Repeated answers")] = "broken"
    """A case that passed before and fails now in an answer that each side repeats: `broken`, or
    `note`, which shows it without failing the gate."""
    cluster: Annotated[str, Key("file", "tag:topic-*", pattern="^(case|file|tag:.+)$")] = "case"
    """Cases without `conversation_id` that are not independent of each other: the cases of one file
    (`file`), or with the same tag that matches a glob (`tag:GLOB`). `case` counts each as
    independent."""
