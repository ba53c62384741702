"""The report of a run: every output format is generated from it."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Literal, Protocol, TypeAlias

from rubric_ci.values.changes import GradingChange
from rubric_ci.values.comparison import Comparison, RegressionConfig, Together
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.gate import FailOn, GateInfo
from rubric_ci.values.media import Picture
from rubric_ci.values.results import Assessed, CaseResult, with_verdict
from rubric_ci.values.scope import WHOLE, Scope
from rubric_ci.values.scoring import MarkValue
from rubric_ci.values.trace import CaseTrace, FileChange
from rubric_ci.values.trials import CriterionNoise, judge_noise, mean_score
from rubric_ci.values.usage import NOTHING_USED, Usage, UsedBy
from rubric_ci.values.waivers import WaiverResult

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
    score: float | None  # mean of the graded cases; None: no graded case
    marks: int = 0  # by judges
    cached_marks: int = 0  # of those, marks with a vote from the cache
    recorded_answers: int = 0  # cases whose answer is from a file of recorded answers
    reused_answers: int = 0  # cases whose answer is from the cache
    waived: int = 0  # graded cases that pass but for waived criteria
    judge_noise: tuple[CriterionNoise, ...] = ()  # criteria with repeated marks, noisiest first


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
    positions: tuple[int, ...] = ()  # of its cases in the whole run, from 0
    fail_on: FailOn | None = None  # of the configuration, for a merge of shards that ran with never


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovedCase:
    """A case that the run is compared with and does not have."""

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
class LeftOut:
    """A file of the repository that the workspaces of the run did not have."""

    file: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """The base of a change, graded in the same run as the head."""

    ref: str  # as the user named it, or "auto"
    commit: str
    committed_at: str = ""  # RFC 3339
    origin: str = ""  # what the commit is: "the pull request's base branch"
    further_trials: int = 0  # answers of a side to one suspect, at most
    asked: int = 0  # base answers that were asked for, without further trials
    reused: int = 0  # base answers from the cache
    recorded: int = 0  # base answers from a file of recorded answers
    shared: int = 0  # answers that both sides have, as nothing that determines them differs
    usage: Usage = NOTHING_USED  # of the base side
    together: Together | None = None  # all cases; None: fewer than 100 clusters


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
    """The judge, checked against twenty remembered marks."""

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


def _differing(marks: Sequence[tuple[MarkValue, Sequence[MarkValue]]]) -> tuple[int, int]:
    each = [mark == other for mark, others in marks for other in others]
    return len(each) - sum(each), len(each)


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
    left_out: tuple[LeftOut, ...] = ()  # of the workspaces, as they grade or give orders
    metadata: Mapping[str, str] = field(default_factory=dict)  # head sha, event, run URL
    shard: ShardInfo | None = None  # None: the whole run
    comparison: Comparison | None = None  # with a commit, a report or a reference
    against: Against | None = None  # the base of the change; None: head only
    grading_changes: tuple[GradingChange, ...] = ()  # since the base, weaker ones first
    waivers: tuple[WaiverResult, ...] = ()  # entries of `waivers.yaml`, in the order of the file
    removed: tuple[RemovedCase, ...] = ()  # cases that only what it is compared with has
    beyond_cases: Usage = NOTHING_USED  # of no case: preflight, sentinel, interrupted requests
    used_by: tuple[UsedBy, ...] = ()  # each target and judge
    sentinel: Sentinel | None = None  # judgements asked for again; None: not asked
    regression: RegressionConfig | None = None  # settings of the comparison; None: the default

    @property
    def covers(self) -> str:
        """The part of the suite that the report covers; empty if it is the whole."""
        return self.scope.describe(len(self.cases))


class Named(Protocol):
    """A report, or the part of it that has cases."""

    @property
    def cases(self) -> Sequence[CaseResult]:
        """The results."""

    @property
    def removed(self) -> Sequence[RemovedCase]:
        """The cases that only the other side has."""


def case_names(report: Named) -> Callable[[CaseResult | RemovedCase], str]:
    """Return the function that names a case: its id, or `FILE::ID` if several files have the id."""
    pairs = {(case.id, case.file) for case in (*report.cases, *report.removed)}
    files = Counter(name for name, _ in pairs)

    def name(case: CaseResult | RemovedCase) -> str:
        return case.id if files[case.id] < 2 else f"{case.file}::{case.id}"

    return name


def usage_of_sides(case: CaseResult) -> Usage:
    """Return the usage of a case, with its base."""
    return case.usage + case.before.usage if case.before else case.usage


def totals(cases: tuple[CaseResult, ...], beyond_cases: Usage = NOTHING_USED) -> Totals:
    """Return the counts of outcomes, and the usage of both sides and beyond the cases."""
    graded = with_verdict(cases)
    counts = Counter(case.status for case in graded)
    used = sum(map(usage_of_sides, cases), beyond_cases)
    assessed = [e for case in cases for e in case.evaluators if isinstance(e, Assessed)]
    return Totals(
        graded=len(graded),
        passed=counts["pass"],
        borderline=counts["borderline"],
        failed=counts["fail"],
        waived=counts["waived"],
        errored=sum(case.status == "errored" for case in cases),
        skipped=sum(case.status == "skipped" for case in cases),
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
        recorded_answers=sum(case.recorded for case in cases),
        reused_answers=sum(case.answer_reused for case in cases),
        judge_noise=judge_noise(cases),
    )


def run_verdict(cases: tuple[CaseResult, ...], scope: Scope = WHOLE) -> RunVerdict:
    """Return the worst verdict; a failed case outweighs a case without a verdict."""
    verdicts = {case.status for case in cases}
    if "fail" in verdicts:
        return "fail"
    if scope.unread or scope.unfinished or any(case.lacks_verdict for case in cases):
        return "error"
    if verdicts <= {"skipped"}:
        return "nothing-graded" if cases else "nothing-changed"
    return "borderline" if "borderline" in verdicts else "pass"
