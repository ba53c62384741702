"""One compact record per run: what trends need of a report, without texts.

The results are columns with one entry per case, so that a thousand runs of hundreds of cases are
read in a second; `case_records` gives them as rows.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, assert_never

from rubric_ci.model.report import JudgeInfo, RunVerdict
from rubric_ci.model.results import Trial, VerdictWord

VERSION: Final = 1

CaseKey: TypeAlias = tuple[str, str]
"""File and id."""

CaseVerdict: TypeAlias = Literal["pass", "borderline", "fail", "waived", "errored", "skipped"]
"""`waived`: the case fails, and a waiver excuses it."""

LETTERS: Final[Mapping[str, CaseVerdict]] = {
    "p": "pass",
    "b": "borderline",
    "f": "fail",
    "w": "waived",
    "e": "errored",
    "s": "skipped",
}
GRADED: Final = frozenset("pbfw")
TRIALS: Final[Mapping[str, VerdictWord]] = {"p": "pass", "b": "borderline", "f": "fail"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The results of all cases, one entry per case; a column may be empty if all are default."""

    verdicts: str  # a letter per case
    scores: tuple[float | None, ...]  # None: not graded
    trials: tuple[str, ...] = ()  # a letter per trial; "": one trial, that of the case
    trial_scores: tuple[tuple[float, ...], ...] = ()
    further_trials: tuple[int, ...] = ()  # of those trials, the ones of a suspected regression
    clusters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRecord:
    """One case of one run."""

    key: CaseKey
    verdict: CaseVerdict
    score: float | None  # None: not graded
    trials: tuple[Trial, ...]  # at least one if the case is graded
    further_trials: int
    cluster: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A share or mean of 0..1 with its 95 % interval over the cases."""

    value: float
    low: float | None = None  # None: one case or cluster has no interval
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """One run: totals, judge and the result of each case."""

    version: int = VERSION
    started_at: str  # RFC 3339, UTC
    tool: str
    verdict: RunVerdict
    gate_passes: bool
    complete: bool  # False: interrupted, or only the cases that a change affects
    worse: bool | None  # than its baseline; None: not compared
    judge: JudgeInfo | None
    passing: float  # thresholds of the verdicts
    borderline: float
    score: Interval | None  # None: no graded case
    pass_rate: Interval | None
    calls: int
    cost_usd: float | None  # None: the price of a call is unknown
    duration_seconds: float
    judge_variance: float | None = None  # of a score, from votes; None: one vote
    commit: str  # empty: unknown
    link: str  # address of the report or of the workflow run; empty: unknown
    cases: tuple[CaseKey, ...]
    results: Columns
    judge_moved: bool = False  # since the reference was measured, as the sentinel found
    corrected: Interval | None = None  # the pass rate corrected by labels; None: not corrected


def case_records(record: RunRecord) -> Iterator[CaseRecord]:
    """Yield the cases of a run as rows."""
    columns = record.results
    for n, key in enumerate(record.cases):
        verdict = LETTERS[columns.verdicts[n]]
        score = columns.scores[n]
        yield CaseRecord(
            key=key,
            verdict=verdict,
            score=score,
            trials=_trials(verdict, score, columns, n),
            further_trials=columns.further_trials[n] if columns.further_trials else 0,
            cluster=columns.clusters[n] if columns.clusters else "",
        )


def _trials(
    verdict: CaseVerdict, score: float | None, columns: Columns, n: int
) -> tuple[Trial, ...]:
    if score is None:
        return ()
    if columns.trials and columns.trials[n]:
        pairs = zip(columns.trials[n], columns.trial_scores[n], strict=True)
        return tuple(Trial(verdict=TRIALS[letter], score=one) for letter, one in pairs)
    return (Trial(verdict=_graded(verdict), score=score),)


def _graded(verdict: CaseVerdict) -> VerdictWord:
    match verdict:
        case "pass" | "borderline" | "fail":
            return verdict
        case "waived":
            return "fail"
        case "errored" | "skipped":
            raise ValueError(f"a case that is {verdict} has no score")
        case _:
            assert_never(verdict)
