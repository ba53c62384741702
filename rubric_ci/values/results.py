"""Results of one case: its answer, the result of each evaluator, and its outcome."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, fields
from typing import ClassVar, Final, Literal, TypeAlias

from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.json_value import JSON
from rubric_ci.values.media import Media, Picture, without_names
from rubric_ci.values.scoring import NOT_APPLICABLE, MarkValue, Verdict, Weighed, total_points
from rubric_ci.values.trace import CaseTrace, FileChange, SeenPart, Work
from rubric_ci.values.usage import NOTHING_USED, Usage

AnswerSource: TypeAlias = Literal["asked", "reused", "recorded", "shared", "report"]
"""`asked`: in this run; `reused`: from the cache; `recorded`: from a file; `report`: of an earlier
run; `shared`: the head's, because nothing that determines it differs."""

Change: TypeAlias = Literal[
    "broken",
    "not-confirmed",
    "failing-before",
    "better",
    "new",
    "removed",
    "not-comparable",
    "unchanged",
]
"""How a case differs from what a run is compared with; a removed case has no result.

`not-confirmed`: worse in its first answer, and not when it was asked again; `better`: in one
answer, which nothing checks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer of a target to a case, or what it did before it failed.

    What keeps, judges or shows an answer takes this value (`values/answers.py`).
    """

    text: str
    messages: tuple[Mapping[str, JSON], ...] = ()  # the whole output, if the target reports it
    trace_summary: Mapping[str, JSON] | None = None
    duration_seconds: float | None = None
    usage: Usage = NOTHING_USED
    answered_at: str = ""  # RFC 3339, of an answer from the cache; empty: not from the cache
    work: Work | None = None  # what is left in the workspace; None: the target has none
    folder: str = ""  # the workspace, for scripts, until the run ends
    error: str = ""  # why it is not an answer; empty: it is one
    last_event: str = ""  # of a target without an answer, in one line
    left_out: int = 0  # calls that the report left out that this was read from
    shortened: str = ""  # by which rule it did
    has_no_tools: bool = False  # of a model that was asked without tools
    media: tuple[Media, ...] = ()  # images and documents; the text has their names

    @property
    def reports_calls(self) -> bool:
        """Whether its messages show all calls of tools, also none."""
        return bool(self.messages) and not self.has_no_tools

    @property
    def said(self) -> str:
        """The text as the target gave it, which is measured: without those names."""
        return without_names(self.text, self.media) if self.media else self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionResult:
    """One criterion with its mark and the judge's reasons."""

    id: str
    kind: str  # checklist | score-range | levels | assertion
    line: int  # of the criterion in its file, from 1
    file: str = ""  # the rubric file that has it; empty: the eval file
    text: str  # the criterion in one line
    weight: float  # of a fault, the penalty
    mark: MarkValue  # of a fault, true is present
    normalised: float  # 0..1; higher is better, also of a fault
    gated: bool  # the gate of this criterion is missed
    fault: bool = False
    applies_if: str = ""  # the condition in words; empty: it always applies
    points: float = 0.0  # of the whole rubric, from which a present fault takes its penalty
    gate: str = ""  # the requirement: "required", "score >= 7", "level >= 3"; empty: no gate
    met: str = ""  # the range or level of the mark: "4-6: polite"; empty: none
    reasoning: str = ""
    evidence: str = ""
    quoted_from: SeenPart | Literal[""] = ""  # has the evidence; empty: only the answer is seen
    votes: tuple[MarkValue, ...] = ()  # each vote, if there are several
    judges: tuple[str, ...] = ()  # the model of each vote, if they are of several judges
    template: str = ""  # the text with its variables, if it has any
    tags: tuple[str, ...] = ()

    @property
    def written(self) -> str:
        """The text as the file has it: one criterion over all rows of a table."""
        return self.template or self.text

    @property
    def applies(self) -> bool:
        """False if it is in no sum and misses no gate, because its condition is not met."""
        return self.mark != NOT_APPLICABLE

    def is_missed(self, passing: float) -> bool:
        """Return True if its gate is missed, or if it counts and is below the pass threshold."""
        low = self.applies and self.normalised < passing
        return self.gated or (self.weight > 0 and low)

    @property
    def found(self) -> str:
        """The reasoning without the text of the criterion, with which an assertion's begins."""
        return self.reasoning.removeprefix(f"{self.text}: ") if self.text else self.reasoning


def weighed(criteria: Iterable[CriterionResult]) -> list[Weighed]:
    """Return criteria as the score takes them, those that apply."""
    return [Weighed(c.weight, c.normalised, c.fault) for c in criteria if c.applies]


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessed:
    """An evaluator's score of one answer."""

    outcome: Literal["assessed"] = "assessed"
    name: str
    type: str
    weight: float
    line: int
    score: float
    verdict: Verdict
    gated_by: tuple[str, ...] = ()
    reasoning: str = ""
    criteria: tuple[CriterionResult, ...] = ()
    hits: tuple[str, ...] = ()
    misses: tuple[str, ...] = ()
    details: JSON = None
    warnings: tuple[str, ...] = ()  # such as evidence that is not in the answer
    judge: str = ""  # the judge model; empty: none
    marks: int = 0  # by judges, including members of a composite
    cached_marks: int = 0  # of those, marks with a vote from the cache
    usage: Usage = NOTHING_USED


def losses(evaluator: Assessed) -> Iterator[tuple[CriterionResult, float]]:
    """Yield each criterion with the share of the score that it loses, by the evaluator's weight."""
    lost = [c.weight * (1 - c.normalised) if c.applies else 0.0 for c in evaluator.criteria]
    total = (any(lost) and total_points(weighed(evaluator.criteria))) or 1
    for each, points in zip(evaluator.criteria, lost, strict=True):
        yield each, evaluator.weight * points / total


@dataclass(frozen=True, slots=True, kw_only=True)
class Unassessed:
    """An evaluator without a result; never a score of 0."""

    outcome: Literal["unassessed"] = "unassessed"
    name: str
    type: str
    weight: float
    line: int
    reason: str
    judge: str = ""  # the judge model; empty: none
    usage: Usage = NOTHING_USED


EvaluatorResult: TypeAlias = Assessed | Unassessed


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """A score with its reasons, as an evaluator returns it; `assessed` adds the verdict."""

    score: float  # 0..1
    gated_by: tuple[str, ...] = ()
    reasoning: str = ""
    criteria: tuple[CriterionResult, ...] = ()
    hits: tuple[str, ...] = ()
    misses: tuple[str, ...] = ()
    details: JSON = None
    warnings: tuple[str, ...] = ()
    judge: str = ""
    marks: int = 0
    cached_marks: int = 0
    usage: Usage = NOTHING_USED


TIERS: tuple[Verdict, ...] = ("fail", "borderline", "pass")  # from the worst to the best

Standing: TypeAlias = Literal["fail", "borderline", "waived", "pass"]
"""The standing of a graded case; `waived`: it passes but for waived criteria."""


def _waived(without: Verdict) -> Standing:
    return "waived" if without == "pass" else without


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One of several answers to the same case, graded on its own."""

    verdict: Verdict
    score: float
    without_waived: Verdict | None = None  # if the criteria that are not waived give a better
    answer: str | None = None  # None: not kept
    trace: CaseTrace | None = None
    file_changes: tuple[FileChange, ...] = ()
    media: tuple[Picture, ...] = ()  # of the answer
    marks: tuple[MarkValue, ...] = ()  # of each judged criterion, if another trial has the answer

    @property
    def status(self) -> Standing:
        """Its verdict, or a better one without waived criteria."""
        return _waived(self.without_waived) if self.without_waived else self.verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """The graded answers of one side to a case that was worse in its first answer."""

    asked: int
    passed: int
    held: int  # with the verdict of the first round before, or a better one


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedAgain:
    """The answers of both sides to a case that was worse in its first answer."""

    here: Answers
    before: Answers
    repeats: bool = False  # each side gives one answer, also to variants of the message
    judged: bool = False  # both answers are recorded, and were judged again


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseResult:
    """The same case before: graded at the base, or as a report has it."""

    outcome: Literal["graded", "errored", "skipped"]
    verdict: Verdict | None = None  # None: not graded
    score: float | None = None
    reason: str = ""
    answer: str = ""
    trace: CaseTrace | None = None
    file_changes: tuple[FileChange, ...] = ()
    media: tuple[Picture, ...] = ()  # of the answer
    source: AnswerSource = "asked"
    answered_at: str = ""  # RFC 3339, of a reused answer
    trials: tuple[Trial, ...] = ()  # each trial, if there are several
    further_trials: int = 0  # of those, the ones that confirmed or refuted a suspected break
    marks: tuple[MarkValue, ...] = ()  # of the same answer in a report
    tags: Mapping[str, float] = field(default_factory=dict)  # scores in a report, by criteria's tag
    evaluators: tuple[EvaluatorResult, ...] = ()
    usage: Usage = NOTHING_USED


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    outcome: str
    file: str
    line: int
    id: str
    reason: str  # one line
    why: str = ""  # why the case ran
    tags: tuple[str, ...] = ()
    target: str = ""
    question: str = ""  # the input messages as one text
    expected_outcome: str = ""
    change: Change | None = None  # None: not compared
    change_reason: str = ""  # in words, if the kind alone does not say it

    @property
    def key(self) -> tuple[str, str]:
        return self.file, self.id

    def as_errored(self, reason: str) -> "Errored":
        """Return the case with all its facts, as one without a verdict."""
        facts = {each.name: getattr(self, each.name) for each in fields(Errored)}
        return Errored(**facts | {"outcome": "errored", "reason": reason})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked(_Case):
    answer: str = ""
    recorded: bool = False  # the answer is from a file of recorded answers
    answer_reused: bool = False  # the answer is from the cache
    answered_at: str = ""  # RFC 3339, of a reused answer
    evaluators: tuple[EvaluatorResult, ...] = ()
    usage: Usage = NOTHING_USED
    duration_seconds: float | None = None
    trace: CaseTrace | None = None  # None: the target reports no work
    file_changes: tuple[FileChange, ...] = ()  # of the target's workspace
    media: tuple[Picture, ...] = ()  # images and documents of the question and the answer
    before: BaseResult | None = None  # the case in what it is compared with


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded(_Asked):
    """A case with a verdict."""

    outcome: Literal["graded"] = "graded"
    verdict: Verdict
    score: float
    gated_by: tuple[str, ...] = ()
    waived: tuple[str, ...] = ()  # missed criteria that a waiver excuses
    without_waived: Verdict | None = None  # if the criteria that are not waived give a better
    question_id: str = ""  # digits by which it is the same question; empty: not known
    trials: tuple[Trial, ...] = ()  # each trial, if there are several
    trials_to_pass: int = 0  # of those, as many must pass; 0: the median decides
    further_trials: int = 0  # of those, the ones that a suspected regression was given
    cluster: str = ""  # of cases that are not independent of each other; empty: independent
    asked_again: AskedAgain | None = None  # None: its first answer was not worse
    answered: ClassVar = True
    lacks_verdict: ClassVar = False

    @property
    def status(self) -> Standing:
        return _waived(self.without_waived) if self.without_waived else self.verdict


class _Ungraded:
    """The facts of a verdict that there is not."""

    __slots__ = ()
    verdict: ClassVar[None] = None
    score: ClassVar[None] = None
    trials: ClassVar[tuple[Trial, ...]] = ()
    trials_to_pass: ClassVar = 0
    further_trials: ClassVar = 0
    asked_again: ClassVar[None] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Errored(_Ungraded, _Asked):
    """A case that ended without a verdict: target, judge, script or budget failed."""

    outcome: Literal["errored"] = "errored"
    status: ClassVar[Literal["errored"]] = "errored"
    lacks_verdict: ClassVar = True

    @property
    def answered(self) -> bool:
        """True if the target answered, and a judge, a script or the budget failed."""
        return bool(self.evaluators)


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped(_Ungraded, _Case):
    """A case with nothing to grade: nothing was asked, so nothing was answered or paid."""

    outcome: Literal["skipped"] = "skipped"
    status: ClassVar[Literal["skipped"]] = "skipped"
    answer: ClassVar = ""
    answered: ClassVar = False
    recorded: ClassVar = False
    answer_reused: ClassVar = False
    answered_at: ClassVar = ""
    evaluators: ClassVar[tuple[EvaluatorResult, ...]] = ()
    usage: ClassVar = NOTHING_USED
    duration_seconds: ClassVar[None] = None
    trace: ClassVar[None] = None
    file_changes: ClassVar[tuple[FileChange, ...]] = ()
    media: ClassVar[tuple[Picture, ...]] = ()
    before: ClassVar[None] = None

    @property
    def lacks_verdict(self) -> bool:
        """True for a case of a stranger's commit that is not graded, which is not a pass."""
        return self.reason.startswith(NOT_GRADABLE)


TEMPLATE: Final = "template "  # begins the cluster of the rows of one template
NOT_GRADABLE: Final = "not gradable for an untrusted change"
"""How the reason of such a case begins."""

ADOPTED: Final = "adopted"  # the type of an evaluator with the marks of another tool


CaseResult: TypeAlias = Graded | Errored | Skipped


def own_id(case_id: str, target: str) -> str:
    """Return the id of a case without its target, which is in it if several answer."""
    return case_id.removesuffix(f" [{target}]")


def with_verdict(cases: Iterable[CaseResult | None]) -> list[Graded]:
    return [case for case in cases if isinstance(case, Graded)]


def both_graded(
    pairs: Iterable[tuple[CaseResult | None, CaseResult | None]],
) -> list[tuple[Graded, Graded]]:
    """Return the pairs of cases that both have a verdict."""
    return [
        (one, other)
        for one, other in pairs
        if isinstance(one, Graded) and isinstance(other, Graded)
    ]
