"""What decided a verdict, in one line."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rubric_ci.model.results import Assessed, CriterionResult
from rubric_ci.model.rubric import CANNOT_ASSESS
from rubric_ci.model.scoring import DEFAULT_THRESHOLDS, Score, Thresholds, Verdict, shown

_LONGEST_REASON = 240


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loss:
    """What one criterion, or one evaluator that names its misses, took from the score."""

    name: str
    points: float
    words: str


def reason(
    score: Score, evaluators: Sequence[Assessed], thresholds: Thresholds = DEFAULT_THRESHOLDS
) -> str:
    """Name the missed gate, or what cost the most, in the judge's own words."""
    missed = list(_missed_gates(evaluators))
    if missed:
        return missed[0] + _more(len(missed) - 1)
    stands = _score_and_threshold(score, thresholds)
    worst = max(_losses(evaluators), key=lambda loss: loss.points, default=None)
    if worst is None or worst.points <= 0:
        return f"{stands}; nothing is missing"
    return f"{stands}; most is lost on `{worst.name}`{_clause(worst.words)}"


def _more(count: int) -> str:
    if count == 0:
        return ""
    return f" (and {count} more missed gate{'s' if count > 1 else ''})"


def _missed_gates(evaluators: Sequence[Assessed]) -> Iterator[str]:
    for evaluator in (e for e in evaluators if e.weight > 0):
        named = {c.id: c for c in evaluator.criteria}
        for gate in evaluator.gated_by:
            yield _missed(gate, named.get(gate), evaluator)


def _missed(gate: str, criterion: CriterionResult | None, evaluator: Assessed) -> str:
    if criterion is None:
        return f"`{gate}` of `{evaluator.name}` misses its gate{_clause(evaluator.reasoning)}"
    said = _clause(criterion.reasoning)
    if criterion.mark == CANNOT_ASSESS:
        asks = "is required" if criterion.kind == "checklist" else f"asks {criterion.gate}"
        return f"`{gate}` {asks} and cannot be assessed{said}"
    if criterion.kind == "checklist":
        return f"`{gate}` is required and not satisfied{said}"
    return f"`{gate}` asks {criterion.gate} and got {criterion.mark}{said}"


def _score_and_threshold(score: Score, thresholds: Thresholds) -> str:
    match score.verdict:
        case Verdict.PASS:
            return f"score {shown(score.value)} reaches {thresholds.passing:g}"
        case Verdict.BORDERLINE:
            return f"score {shown(score.value)} is below {thresholds.passing:g}"
        case Verdict.FAIL:
            return f"score {shown(score.value)} is below {thresholds.borderline:g}"


def _losses(evaluators: Sequence[Assessed]) -> Iterator[_Loss]:
    for evaluator in (e for e in evaluators if e.weight > 0):
        total = sum(c.weight for c in evaluator.criteria)
        for c in () if evaluator.misses else evaluator.criteria:
            points = evaluator.weight * c.weight / total * (1 - c.normalised)
            yield _Loss(name=c.id, points=points, words=c.reasoning)
        if not evaluator.criteria or evaluator.misses:
            points = evaluator.weight * (1 - evaluator.score)
            words = "; ".join(evaluator.misses) or evaluator.reasoning
            yield _Loss(name=evaluator.name, points=points, words=words)


def _clause(words: str) -> str:
    line = " ".join(words.split())
    if not line:
        return ""
    return f": {line}" if len(line) <= _LONGEST_REASON else f": {line[:_LONGEST_REASON]}…"
