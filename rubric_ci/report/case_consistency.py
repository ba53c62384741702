"""Contradictions inside one case: score, gates and verdict follow from evaluators and marks.

What a report does not hold is not computed: the levels of a criterion, the aggregation of a
composite, the scores of scripts and measurements.
"""

import re
from collections.abc import Iterator, Sequence
from math import isclose
from typing import Final

from rubric_ci.model.mark_value import YES_OR_NO, MarkValue
from rubric_ci.model.results import (
    Assessed,
    BaseResult,
    CriterionResult,
    EvaluatorResult,
    Graded,
    Trial,
    VerdictWord,
    kth_best,
)
from rubric_ci.model.scoring import Thresholds, verdict, weighted_mean
from rubric_ci.text.numbers import shortened

_MINIMUM: Final = re.compile(r"(?:score|level) >= (-?[0-9]{1,9})")
_MEANS: Final = frozenset({"rubric", "llm_judge", "field_accuracy"})
"""Evaluators whose score is the weighted mean of their criteria."""


def problems(case: Graded | BaseResult, limits: Thresholds) -> Iterator[str]:
    """Yield what contradicts itself, each as field below the case and reason."""
    for at, each in enumerate(case.evaluators):
        if isinstance(each, Assessed):
            yield from (f"evaluators.{at}.{problem}" for problem in _evaluator(each, limits))
    if case.verdict is None or case.score is None:
        return
    yield from _case(case.score, case.verdict, case.evaluators, limits)
    if isinstance(case, Graded) and case.evaluators:
        yield from _same("gated_by", case.gated_by, _gates(case.evaluators), "its evaluators give")
    own = Trial(verdict=case.verdict, score=case.score)
    rank = case.trials_to_pass if isinstance(case, Graded) else 0
    yield from _trials(case.trials, own, rank, limits)


def _case(
    score: float, said: VerdictWord, evaluators: Sequence[EvaluatorResult], limits: Thresholds
) -> Iterator[str]:
    """Compare with the evaluators; a report may leave them out, but not only some of them."""
    if not evaluators:
        return
    counted = [each for each in evaluators if each.weight > 0]
    assessed = [each for each in counted if isinstance(each, Assessed)]
    if not assessed or len(assessed) < len(counted):
        yield f"verdict is {said}, but an evaluator that counts has no score"
        return
    found = weighted_mean((each.weight, each.score) for each in assessed)
    yield from _same("score", score, found, "its evaluators give")
    by_gates = verdict(found, _gates(evaluators), limits).value
    yield from _same("verdict", said, by_gates, "its evaluators give")


def _gates(evaluators: Sequence[EvaluatorResult]) -> tuple[str, ...]:
    counted = (each for each in evaluators if isinstance(each, Assessed) and each.weight > 0)
    return tuple(gate for each in counted for gate in each.gated_by)


def _evaluator(found: Assessed, limits: Thresholds) -> Iterator[str]:
    for at, criterion in enumerate(found.criteria):
        yield from (f"criteria.{at}.{problem}" for problem in _criterion(criterion))
    gates = tuple(criterion.id for criterion in found.criteria if criterion.gated)
    yield from _same("gated_by", found.gated_by, gates, "its criteria give")
    said = verdict(found.score, found.gated_by, limits).value
    yield from _same("verdict", found.verdict, said, "its score and gates give")
    weight = sum(criterion.weight for criterion in found.criteria)
    if found.type in _MEANS and weight > 0:
        mean = weighted_mean((each.weight, each.normalised) for each in found.criteria)
        is_whole = found.type == "field_accuracy" and found.score in {0.0, 1.0}  # all or nothing
        if not is_whole or (found.score == 1) != (mean == 1):
            yield from _same("score", found.score, mean, "its criteria give")


def _criterion(found: CriterionResult) -> Iterator[str]:
    expected = _normalised(found.kind, found.mark)
    if not 0 <= found.normalised <= 1:
        yield f"normalised is {found.normalised:g}, not between 0 and 1"
    elif expected is not None:
        yield from _same("normalised", found.normalised, expected, "its mark gives")
    if found.gate in {"", "required"} or _MINIMUM.fullmatch(found.gate):
        yield from _same("gated", found.gated, _misses(found.gate, found.mark), "its mark gives")


def _normalised(kind: str, mark: MarkValue) -> float | None:
    """Return the value of a mark; None: it depends on levels that the report does not hold."""
    if kind in YES_OR_NO or isinstance(mark, bool | str):
        return 1.0 if mark is True else 0.0
    return min(mark, 11) / 10 if kind == "score-range" else None


def _misses(gate: str, mark: MarkValue) -> bool:
    if gate in {"", "required"} or isinstance(mark, bool | str):
        return bool(gate) and mark is not True
    return mark < int(gate.rpartition(" ")[2])


def _trials(trials: Sequence[Trial], case: Trial, rank: int, limits: Thresholds) -> Iterator[str]:
    """Compare the case with the median of its trials, the lower of two, unless k must pass."""
    for at, trial in enumerate(trials):
        if trial.verdict not in {"fail", verdict(trial.score, (), limits).value}:
            yield f"trials.{at}.verdict is {trial.verdict}, not possible with its score"
    if trials and rank == 0:  # the rule of k trials is checked with the waivers
        found = kth_best(trials, len(trials) - (len(trials) - 1) // 2)
        yield from _same("verdict", case.verdict, found.verdict, "its trials give")
        yield from _same("score", case.score, found.score, "its trials give")


def _same(field: str, said: object, found: object, source: str) -> Iterator[str]:
    if isinstance(said, int | float) and isinstance(found, int | float):
        if isclose(said, found, abs_tol=1e-6):
            return
    elif said == found:
        return
    yield f"{field} is {_shown(said)}, {source} {_shown(found)}"


def _shown(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case tuple():
            return shortened(", ".join(map(str, value)), 100) or "empty"
        case _:
            return shortened(str(value), 20)
