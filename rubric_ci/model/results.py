"""What became of one case: its answer, what each evaluator found, and how it ended."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rubric_ci.model.evals import JSON
from rubric_ci.model.llm_calls import NOTHING_USED, Usage
from rubric_ci.model.rubric import MarkValue

VerdictWord: TypeAlias = Literal["pass", "borderline", "fail"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a target produced for a case."""

    text: str
    messages: tuple[Mapping[str, JSON], ...] = ()  # the whole output, where the target gives it
    trace_summary: Mapping[str, JSON] | None = None
    duration_seconds: float | None = None
    usage: Usage = NOTHING_USED


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionResult:
    """One criterion, its mark and what the judge said."""

    id: str
    kind: str  # checklist | score-range | levels
    line: int  # of the criterion in the eval file, from 1
    text: str  # what was asked, in one line
    weight: float
    mark: MarkValue
    normalised: float
    gated: bool  # the gate of this criterion is missed
    gate: str = ""  # what the gate asks: "required", "score >= 7", "level >= 3"; empty: no gate
    reasoning: str = ""
    evidence: str = ""
    votes: tuple[MarkValue, ...] = ()  # each vote, where there is more than one


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessed:
    """An evaluator's score of one answer."""

    outcome: Literal["assessed"] = "assessed"
    name: str
    type: str
    weight: float
    line: int
    score: float
    verdict: VerdictWord
    gated_by: tuple[str, ...] = ()
    reasoning: str = ""
    criteria: tuple[CriterionResult, ...] = ()
    hits: tuple[str, ...] = ()
    misses: tuple[str, ...] = ()
    details: JSON = None
    warnings: tuple[str, ...] = ()  # such as evidence that is not in the answer
    judge: str = ""  # the model that marked; empty: none did
    marks: int = 0  # that judges gave; members of a composite included
    cached_marks: int = 0  # of those, marks of which a vote is from the cache
    usage: Usage = NOTHING_USED


@dataclass(frozen=True, slots=True, kw_only=True)
class Unassessed:
    """An evaluator that gave no usable result; never a score."""

    outcome: Literal["unassessed"] = "unassessed"
    name: str
    type: str
    weight: float
    line: int
    reason: str
    judge: str = ""  # the model that was to mark; empty: none was
    usage: Usage = NOTHING_USED


EvaluatorResult: TypeAlias = Assessed | Unassessed


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One of several answers to the same case, graded by itself."""

    verdict: VerdictWord
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """A case with a verdict."""

    outcome: Literal["graded"] = "graded"
    file: str
    line: int
    id: str
    verdict: VerdictWord
    score: float
    reason: str  # one line: what decided the verdict
    gated_by: tuple[str, ...] = ()
    why: str = ""  # why the case ran
    target: str = ""
    answer: str = ""
    recorded: bool = False  # the answer is from a file of recorded answers
    trials: tuple[Trial, ...] = ()  # each trial, where there is more than one
    evaluators: tuple[EvaluatorResult, ...] = ()
    usage: Usage = NOTHING_USED
    duration_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Errored:
    """A case that ended without a verdict: target, judge, script or budget failed."""

    outcome: Literal["errored"] = "errored"
    file: str
    line: int
    id: str
    reason: str
    why: str = ""
    target: str = ""
    answer: str = ""
    recorded: bool = False  # the answer is from a file of recorded answers
    evaluators: tuple[EvaluatorResult, ...] = ()
    usage: Usage = NOTHING_USED
    duration_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A case with nothing to grade."""

    outcome: Literal["skipped"] = "skipped"
    file: str
    line: int
    id: str
    reason: str
    why: str = ""


CaseResult: TypeAlias = Graded | Errored | Skipped
