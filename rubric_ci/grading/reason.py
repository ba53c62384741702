"""The reason of a verdict in one line: the missed gate, or the score and the largest loss."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rubric_ci.model.mark_value import CANNOT_ASSESS, YES_OR_NO
from rubric_ci.model.results import Assessed, CriterionResult
from rubric_ci.model.scoring import DEFAULT_THRESHOLDS, Score, Thresholds, Verdict, format_score

_LONGEST_REASON = 240


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loss:
    """The points that one criterion, or one evaluator with misses of its own, lost."""

    name: str
    points: float
    words: str


def reason(
    score: Score, evaluators: Sequence[Assessed], thresholds: Thresholds = DEFAULT_THRESHOLDS
) -> str:
    """Return the missed gate, or the score and, without a pass, the largest loss."""
    missed = list(_missed_gates(evaluators))
    if missed:
        return missed[0] + _more(len(missed) - 1)
    summary = _score_and_threshold(score, thresholds)
    worst = max(_losses(evaluators), key=lambda loss: loss.points, default=None)
    if worst is None or worst.points <= 0:
        return f"{summary}; no points lost"
    if score.verdict is Verdict.PASS:
        return summary
    return f"{summary}; largest loss: `{worst.name}`{_clause(worst.words)}"


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
    reasoning = _clause(criterion.reasoning)
    if criterion.mark == CANNOT_ASSESS:
        rule = "is required" if criterion.kind in YES_OR_NO else f"requires {criterion.gate}"
        return f"`{gate}` {rule} and cannot be assessed{reasoning}"
    if criterion.kind in YES_OR_NO:
        return f"`{gate}` is required and not satisfied{reasoning}"
    return f"`{gate}` requires {criterion.gate} and got {criterion.mark}{reasoning}"


def _score_and_threshold(score: Score, thresholds: Thresholds) -> str:
    match score.verdict:
        case Verdict.PASS:
            return f"score {format_score(score.value)} reaches {_threshold(thresholds.passing)}"
        case Verdict.BORDERLINE:
            return f"score {format_score(score.value)} is below {_threshold(thresholds.passing)}"
        case Verdict.FAIL:
            return f"score {format_score(score.value)} is below {_threshold(thresholds.borderline)}"


def _threshold(value: float) -> str:
    return f"{value:.2f}" if round(value, 2) == value else f"{value:g}"


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
