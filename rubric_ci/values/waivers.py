"""Waivers: known failures of single criteria that do not fail the gate, until a date."""

from collections.abc import Iterable, Sequence, Set
from dataclasses import replace
from typing import Annotated, Final, Literal, TypeAlias

from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.formats_and_defaults import ADOPTED_TOOLS
from rubric_ci.values.results import (
    TIERS,
    Assessed,
    CriterionResult,
    EvaluatorResult,
    Graded,
    weighed,
)
from rubric_ci.values.scoring import Score, Thresholds, combine, rubric_score, total_points, verdict
from rubric_ci.values.written_keys import Key

ENOUGH: Final = 6
"""Runs in a row in which a waived criterion is met, before the waiver is unneeded."""

SAFETY: Final = "safety"
"""The tag of cases and criteria that cannot be waived."""

WaiverState: TypeAlias = Literal[
    "applied", "met", "not-run", "unneeded", "expired", "edited", "unmatched", "safety"
]
"""`met`: the criterion is met in this run; `unneeded`: in `ENOUGH` runs in a row; the last four are
not in force."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiver:
    """Excuses one criterion of one case with its present text. `rubric-ci waive` writes it."""

    case: Annotated[str, Key("refund-without-receipt")]
    """Id of the case."""
    criterion: Annotated[str, Key("rubric-2")]
    """Id of the criterion; in a composite `member/id`."""
    file: Annotated[str, Key("evals/refunds.eval.yaml")] = ""
    """Eval file of the case, relative to the repository root, where several files have a case of
    this id."""
    tool: Annotated[str, Key("promptfoo", enum=ADOPTED_TOOLS)] = ""
    """Tool whose adopted results have the case, as `rubric-ci adopt --from` names it. Without it
    the case is in an eval file."""
    reason: Annotated[str, Key("The new policy is not in the index yet, #123")]
    """Why the failure is known and accepted for now. Reports show it."""
    owner: Annotated[str, Key("ana")]
    """Who fixes it."""
    until: Annotated[str, Key("2026-12-31", pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
    """Last day on which the waiver is in force, in UTC."""
    fingerprint: Annotated[str, Key("0123456789ab", pattern="^[0-9a-f]{12}$")]
    """Digest of the criterion's kind, text, ranges and levels, and of the question of its case. An
    edited criterion or question has another one."""
    line: int  # of the entry in `waivers.yaml`

    @property
    def key(self) -> tuple[str, ...]:
        """The excused criterion: entries of base and head with the same key are the same waiver."""
        return self.tool, self.file, self.case, self.criterion, self.fingerprint


@dataclass(frozen=True, slots=True, kw_only=True)
class WaiverResult:
    """A waiver in a report, with its outcome."""

    state: WaiverState
    case: str
    criterion: str
    file: str = ""  # eval file of the case; empty: not found
    line: int  # of the entry in `waivers.yaml`
    reason: str
    owner: str
    until: str


def with_waivers(case: Graded, waived: Set[str], thresholds: Thresholds) -> Graded:
    """Return the case with its missed criteria that are waived, and the verdict without them."""
    missed = {
        criterion.id
        for evaluator in case.evaluators
        if isinstance(evaluator, Assessed) and evaluator.weight > 0
        for criterion in evaluator.criteria
        if criterion.id in waived and criterion.is_missed(thresholds.passing)
    }
    if not missed:
        return case
    found = verdict_without(case.evaluators, missed, thresholds)
    better = TIERS.index(found) > TIERS.index(case.verdict)
    return replace(case, waived=tuple(sorted(missed)), without_waived=found if better else None)


def verdict_without(
    evaluators: Iterable[EvaluatorResult], waived: Set[str], thresholds: Thresholds
) -> Literal["fail", "borderline", "pass"]:
    """Return the verdict of the criteria that are not waived; `pass` if there are no others."""
    parts = [
        (evaluator.weight, part)
        for evaluator in evaluators
        if isinstance(evaluator, Assessed) and evaluator.weight > 0
        if (part := _without(evaluator, waived, thresholds)) is not None
    ]
    return combine(parts, thresholds).verdict if parts else "pass"


def _without(evaluator: Assessed, waived: Set[str], thresholds: Thresholds) -> Score | None:
    """Return the score without the waived criteria; None if none is left.

    In a composite only the gate of a criterion is excused: its part of the score is not known.
    """
    touched = any(criterion.id in waived for criterion in evaluator.criteria)
    if not touched or evaluator.type == "composite":
        gates = tuple(gate for gate in evaluator.gated_by if gate not in waived)
        return Score(
            value=evaluator.score,
            verdict=verdict(evaluator.score, gates, thresholds),
            gated_by=gates,
        )
    return _rescored([c for c in evaluator.criteria if c.id not in waived])


def _rescored(kept: Sequence[CriterionResult]) -> Score | None:
    gates = tuple(criterion.id for criterion in kept if criterion.gated)
    parts = weighed(kept)
    if total_points(parts):
        value = rubric_score(parts)
        return Score(value=value, verdict="pass", gated_by=gates)
    return Score(value=0.0, verdict="fail", gated_by=gates) if gates else None
