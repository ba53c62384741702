"""The result of a run: the one value of which every output is a rendering."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from rubric_ci.model.config import FailOn
from rubric_ci.model.llm_calls import NOTHING_USED
from rubric_ci.model.results import Assessed, CaseResult, Errored, Graded, Skipped, Trial

REPORT_VERSION = 1


RunVerdict: TypeAlias = Literal[
    "pass", "borderline", "fail", "error", "nothing-changed", "nothing-graded"
]
"""The worst verdict of the graded cases; `error` when some case has none and no case fails."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Counts over the cases; errored and skipped ones never look like a verdict."""

    graded: int
    passed: int
    borderline: int
    failed: int
    errored: int
    skipped: int
    calls: int
    cost_usd: float
    unpriced_calls: int
    input_tokens: int
    output_tokens: int
    cache_hits: int
    repairs: int
    score: float | None  # mean of the graded cases; None: none was graded
    marks: int = 0  # that judges gave, in the evaluators of the report
    cached_marks: int = 0  # of those, marks of which a vote is from the cache
    recorded_answers: int = 0  # of cases whose answer is from a file of recorded answers


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What asking the judges was going to take, reckoned before anything was asked."""

    requests: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None  # None: some price is unknown

    def __add__(self, other: "Forecast") -> "Forecast":
        """Sum field by field; what is partly unknown is unknown."""
        costs = (self.cost_usd, other.cost_usd)
        return Forecast(
            requests=self.requests + other.requests,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost_usd=None if None in costs else round(sum(cost or 0 for cost in costs), 6),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeInfo:
    """Who judged, so that a verdict can be repeated."""

    model: str
    prompt_version: str
    mode: str = "batched"
    votes: int | Literal["auto"] = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class GateInfo:
    """What the gate asked and whether it holds."""

    fail_on: Literal["fail", "borderline", "never"]
    passing: float
    borderline: float
    holds: bool  # no graded case is as bad as `fail_on`, and none is without a verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardInfo:
    """Which part of a run a report is."""

    index: int  # from 1
    count: int
    positions: tuple[int, ...] = ()  # of its cases among those of the whole run, from 0


ChangeKind: TypeAlias = Literal["regressed", "errored", "gone", "flaky", "improved", "new", "same"]
"""`flaky`: it differs, but no more than its own trials differ among themselves."""


CHANGE_KINDS: tuple[ChangeKind, ...] = get_args(ChangeKind)
"""What needs attention comes first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseChange:
    """One case in the baseline and now."""

    kind: ChangeKind
    file: str
    id: str
    before: Trial | None = None  # None: it had no verdict
    after: Trial | None = None
    flips: bool = False  # its own trials do not agree on a verdict, then or now

    @property
    def difference(self) -> float | None:
        """How much the score rose, where there are two."""
        if self.before is None or self.after is None:
            return None
        return round(self.after.score - self.before.score, 6)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A run against its baseline: every case, and what those with both scores show together."""

    changes: tuple[CaseChange, ...]
    tolerance: float  # a score may fall by this much
    paired: int  # cases with both scores
    mean_difference: float | None = None
    interval: tuple[float, float] | None = None  # 95 %, of the mean difference
    p_value: float | None = None  # exact paired test; None: no case has both scores
    significant: bool = False  # the scores as a whole moved more than chance moves them
    regressed: bool = False  # a case is worse, or the whole is significantly
    notes: tuple[str, ...] = ()

    def count(self, kind: ChangeKind) -> int:
        """Count the cases that changed in this way."""
        return sum(change.kind == kind for change in self.changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """All that a renderer needs; no live object."""

    version: int = REPORT_VERSION
    tool: str  # "rubric-ci 0.1.0"
    started_at: str  # RFC 3339, UTC
    duration_seconds: float
    verdict: RunVerdict
    interrupted: bool = False  # some cases did not end, or their shard is missing
    gate: GateInfo
    judge: JudgeInfo | None = None
    totals: Totals
    replayed: bool = False  # replies of models are from a recording: no model was asked
    forecast: Forecast | None = None  # None: no judge was to be asked
    cases: tuple[CaseResult, ...] = ()  # as in the files
    spared: int = 0  # cases that the change does not affect
    notes: tuple[str, ...] = ()  # one line each, for the reader of the report
    metadata: Mapping[str, str] = field(default_factory=dict)  # head sha, event, run URL
    shard: ShardInfo | None = None  # None: the whole run
    comparison: Comparison | None = None  # with a baseline, where one was given


def totals(cases: tuple[CaseResult, ...]) -> Totals:
    """Count outcomes and sum usage."""
    graded = [case for case in cases if isinstance(case, Graded)]
    ended = [case for case in cases if not isinstance(case, Skipped)]
    used = sum((case.usage for case in ended), NOTHING_USED)
    assessed = [e for case in ended for e in case.evaluators if isinstance(e, Assessed)]
    return Totals(
        graded=len(graded),
        passed=sum(case.verdict == "pass" for case in graded),
        borderline=sum(case.verdict == "borderline" for case in graded),
        failed=sum(case.verdict == "fail" for case in graded),
        errored=sum(isinstance(case, Errored) for case in cases),
        skipped=sum(isinstance(case, Skipped) for case in cases),
        calls=used.calls,
        cost_usd=round(used.cost_usd, 6),
        unpriced_calls=used.unpriced_calls,
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cache_hits=used.cache_hits,
        repairs=used.repairs,
        score=round(sum(case.score for case in graded) / len(graded), 6) if graded else None,
        marks=sum(evaluator.marks for evaluator in assessed),
        cached_marks=sum(evaluator.cached_marks for evaluator in assessed),
        recorded_answers=sum(case.recorded for case in ended),
    )


def run_verdict(cases: tuple[CaseResult, ...], *, complete: bool = True) -> RunVerdict:
    """Return the worst verdict; a proven fail outweighs a case without a verdict.

    `complete` is False where some cases could not even be read.
    """
    verdicts = {case.verdict for case in cases if isinstance(case, Graded)}
    if "fail" in verdicts:
        return "fail"
    if not complete or any(isinstance(case, Errored) for case in cases):
        return "error"
    if not verdicts:
        return "nothing-graded" if cases else "nothing-changed"
    return "borderline" if "borderline" in verdicts else "pass"


def gate_holds(cases: tuple[CaseResult, ...], fail_on: FailOn) -> bool:
    """Tell whether no graded case is as bad as the gate forbids; it knows nothing of the others."""
    forbidden: Mapping[FailOn, set[str]] = {
        FailOn.FAIL: {"fail"},
        FailOn.BORDERLINE: {"fail", "borderline"},
        FailOn.NEVER: set(),
    }
    return not any(
        isinstance(case, Graded) and case.verdict in forbidden[fail_on] for case in cases
    )
