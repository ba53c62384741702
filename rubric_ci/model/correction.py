"""The pass rate of a suite, corrected for the judge's errors by labels of people."""

from rubric_ci.model.dataclass import dataclass


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
