"""The report of a run: every output format is generated from it."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from rubric_ci.model.correction import CorrectedPassRate
from rubric_ci.model.gate import GateInfo
from rubric_ci.model.grading_changes import GradingChange
from rubric_ci.model.reference_log import ReferenceMove
from rubric_ci.model.regression_config import RegressionConfig
from rubric_ci.model.results import Assessed, CaseResult, Errored, Graded, Skipped, Trial, standing
from rubric_ci.model.scope import WHOLE, Scope
from rubric_ci.model.sentinel import Sentinel
from rubric_ci.model.trials import mean_score
from rubric_ci.model.usage import NOTHING_USED, Usage
from rubric_ci.model.waivers import WaiverResult

REPORT_VERSION = 1


RunVerdict: TypeAlias = Literal[
    "pass", "borderline", "fail", "error", "nothing-changed", "nothing-graded"
]
"""The worst verdict of the graded cases; `error` when some case has none and no case fails."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Counts over the cases; errored and skipped cases are separate from verdicts."""

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
    score: float | None  # mean of the graded cases, of first trials; None: no graded case
    marks: int = 0  # by judges
    cached_marks: int = 0  # of those, marks with a vote from the cache
    recorded_answers: int = 0  # cases whose answer is from a file of recorded answers
    reused_answers: int = 0  # cases whose answer is from the cache
    waived: int = 0  # graded cases that pass but for waived criteria


@dataclass(frozen=True, slots=True, kw_only=True)
class CostEstimate:
    """Estimated judge requests, tokens and cost, from before the run."""

    requests: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None  # None: a price is unknown

    def __add__(self, other: "CostEstimate") -> "CostEstimate":
        """Sum field by field; one unknown cost makes the sum unknown."""
        costs = (self.cost_usd, other.cost_usd)
        return CostEstimate(
            requests=self.requests + other.requests,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost_usd=None if None in costs else round(sum(cost or 0 for cost in costs), 6),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeInfo:
    """The judge of a run, to reproduce its verdicts."""

    model: str
    prompt_version: str
    mode: str = "batched"
    votes: int | Literal["auto"] = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardInfo:
    """The part of a run that a report covers."""

    index: int  # from 1
    count: int
    positions: tuple[int, ...] = ()  # of its cases among those of the whole run, from 0


ChangeKind: TypeAlias = Literal[
    "regressed", "errored", "gone", "unclear", "flaky", "improved", "new", "same"
]
"""`flaky`: the case differs by no more than its own trials differ; `unclear`: it differs, but the
judge is not that of the reference."""


CHANGE_KINDS: tuple[ChangeKind, ...] = get_args(ChangeKind)
"""In order of importance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseChange:
    """One case in the baseline and in this run."""

    kind: ChangeKind
    file: str
    id: str
    before: Trial | None = None  # None: no verdict
    after: Trial | None = None
    flips: bool = False  # the verdicts of its trials differ, in the baseline or in this run
    p_value: float | None = None  # of a suspect, adjusted for all cases; None: not a suspect
    answer_before: str = ""  # in the baseline, if the case changed and its answer differs

    @property
    def difference(self) -> float | None:
        """The score difference, or None without two scores."""
        if self.before is None or self.after is None:
            return None
        return round(self.after.score - self.before.score, 6)


@dataclass(frozen=True, slots=True, kw_only=True)
class SuspectCounts:
    """The cases whose trials are mostly below the reference, and what further trials showed."""

    false_alarms: float  # the budget: probability of a false alarm per comparison
    suspects: int
    confirmed: int  # regressed
    undecided: int  # of those not confirmed, the ones with too few trials
    further_trials: int  # per suspect


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
    """A run compared with its baseline: every case, and the mean difference of the paired ones."""

    changes: tuple[CaseChange, ...]
    tolerance: float  # a score may fall by this much
    paired: int  # cases with both scores
    mean_difference: float | None = None
    interval: tuple[float, float] | None = None  # 95 %, of the mean difference
    p_value: float | None = None  # paired permutation test; None: no case has both scores
    clusters: int = 0  # independent groups of the paired cases
    suspects: SuspectCounts | None = None  # None: no budget of false alarms applies
    significant: bool = False  # the mean difference is statistically significant
    regressed: bool = False  # a case is worse, or the mean significantly, or a slide is detected
    reference: ReferenceInfo | None = None  # None: an unknown commit, and not pinned
    slide: SlowSlide | None = None  # None: the baseline is not a pinned reference
    log_products: tuple[float, ...] = ()  # of this run, for the detector of slides
    judge_moved: str = ""  # why marks are not comparable with the reference's; empty: they are
    notes: tuple[str, ...] = ()

    def count(self, kind: ChangeKind) -> int:
        """Count the cases that changed in this way."""
        return sum(change.kind == kind for change in self.changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovedCase:
    """A case that the base has and the head has not."""

    file: str
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Responder:
    """A model that replied, as its replies name it."""

    requested: str  # the model of the configuration
    model: str = ""  # empty: the replies do not name one
    fingerprint: str = ""  # `system_fingerprint`
    replies: int
    fallback: bool = False  # a gateway asked another model than the requested one


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """The base of a change, graded in the same run as the head."""

    ref: str  # as the user named it, or "auto"
    commit: str
    committed_at: str = ""  # RFC 3339
    origin: str = ""  # what the commit is: "the pull request's base branch"
    further_trials: int = 0  # per suspected break and side, at most
    asked: int = 0  # base answers that were asked for, without further trials
    reused: int = 0  # base answers from the cache
    recorded: int = 0  # base answers from a file of recorded answers
    shared: int = 0  # answers that both sides have, as nothing that determines them differs
    usage: Usage = NOTHING_USED  # of the base side


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """Everything that the report formats need."""

    version: int = REPORT_VERSION
    tool: str  # "rubric-ci 0.1.0"
    started_at: str  # RFC 3339, UTC
    duration_seconds: float
    verdict: RunVerdict
    scope: Scope = WHOLE  # the part of the suite that the run covers
    gate: GateInfo
    judge: JudgeInfo | None = None
    totals: Totals
    forecast: CostEstimate | None = None  # the estimate; None: no judge requests
    cases: tuple[CaseResult, ...] = ()  # in file order
    notes: tuple[str, ...] = ()  # one line each
    responders: tuple[Responder, ...] = ()  # the models that replied; not of cached judgements
    metadata: Mapping[str, str] = field(default_factory=dict)  # head sha, event, run URL
    shard: ShardInfo | None = None  # None: the whole run
    comparison: Comparison | None = None  # with a baseline, where one was given
    against: Against | None = None  # the base of the change; None: head only
    grading_changes: tuple[GradingChange, ...] = ()  # since the base, weaker ones first
    waivers: tuple[WaiverResult, ...] = ()  # entries of `waivers.yaml`, in the order of the file
    removed: tuple[RemovedCase, ...] = ()  # cases that the base has and the head has not
    preflight: Usage = NOTHING_USED  # of the requests before the first case
    sentinel: Sentinel | None = None  # judgements asked for again; None: not asked
    corrected_pass_rate: CorrectedPassRate | None = None  # by labels; None: no labels
    regression: RegressionConfig | None = None  # the budget of false alarms; None: the default

    @property
    def covers(self) -> str:
        """The part of the suite that the report covers; empty if it is the whole."""
        return self.scope.describe(len(self.cases))


def totals(cases: tuple[CaseResult, ...], preflight: Usage = NOTHING_USED) -> Totals:
    """Return the counts of outcomes and the sum of usage, with that of the preflight."""
    graded = [case for case in cases if isinstance(case, Graded)]
    ended = [case for case in cases if not isinstance(case, Skipped)]
    counts = Counter(map(standing, graded))
    used = sum((case.usage for case in ended), preflight)
    assessed = [e for case in ended for e in case.evaluators if isinstance(e, Assessed)]
    return Totals(
        graded=len(graded),
        passed=counts["pass"],
        borderline=counts["borderline"],
        failed=counts["fail"],
        waived=counts["waived"],
        errored=sum(isinstance(case, Errored) for case in cases),
        skipped=sum(isinstance(case, Skipped) for case in cases),
        calls=used.calls,
        cost_usd=round(used.cost_usd, 6),
        unpriced_calls=used.unpriced_calls,
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cache_hits=used.cache_hits,
        repairs=used.repairs,
        score=mean_score(graded),
        marks=sum(evaluator.marks for evaluator in assessed),
        cached_marks=sum(evaluator.cached_marks for evaluator in assessed),
        recorded_answers=sum(case.recorded for case in ended),
        reused_answers=sum(case.answer_reused for case in ended),
    )


def run_verdict(cases: tuple[CaseResult, ...], *, complete: bool = True) -> RunVerdict:
    """Return the worst verdict; a failed case outweighs a case without a verdict.

    `complete` is False if some eval files could not be read.
    """
    verdicts = {standing(case) for case in cases if isinstance(case, Graded)}
    if "fail" in verdicts:
        return "fail"
    if not complete or any(isinstance(case, Errored) for case in cases):
        return "error"
    if not verdicts:
        return "nothing-graded" if cases else "nothing-changed"
    return "borderline" if "borderline" in verdicts else "pass"
