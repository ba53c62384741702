"""Contradictions inside a report, whose numbers are computed again, and between reports.

A report may come from a fork, whose code wrote it. What it does not hold is not computed: the
levels of a criterion, the aggregation of a composite, the scores of scripts and measurements.
"""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass, replace
from math import isclose
from typing import Final

from rubric_ci.errors import UserError
from rubric_ci.evaluators.table import KINDS
from rubric_ci.gate.report.decision import with_gate
from rubric_ci.text.numbers import shortened
from rubric_ci.values.report import RunReport, run_verdict, totals
from rubric_ci.values.results import (
    Assessed,
    BaseResult,
    CriterionResult,
    EvaluatorResult,
    Graded,
    Trial,
    weighed,
)
from rubric_ci.values.scope import Scope
from rubric_ci.values.scoring import (
    CANNOT_ASSESS,
    CHOICES,
    YES_OR_NO,
    MarkValue,
    Thresholds,
    Verdict,
    rubric_score,
    total_points,
    verdict,
    weighted_mean,
)
from rubric_ci.values.trials import CriterionNoise, hidden_marks, judge_noise, kth_best
from rubric_ci.values.waivers import with_waivers

_MINIMUM: Final = re.compile(r"(?:score|level) >= (-?[0-9]{1,9})")


def check_alike(
    reports: str, values: Mapping[str, Set[object]], error: type[UserError], hint: str
) -> None:
    """Raise the error if reports that belong together have several values of one kind."""
    for name, found in values.items():
        if len(found) > 1:
            shown = ", ".join(sorted(_differing(found)))
            raise error(f"{reports} have different {name}: {shown}", hint)


def _differing(values: Set[object]) -> Iterator[str]:
    """Yield each value as text, of settings those that differ between them."""
    settings = [each for each in values if is_dataclass(each) and not isinstance(each, type)]
    keys = [field.name for field in fields(settings[0])] if settings else []
    alike = len(settings) == len(values)
    differing = [k for k in keys if not alike or len({repr(getattr(s, k)) for s in settings}) > 1]
    yield from (" ".join(f"{k}={getattr(each, k)}" for k in differing) for each in settings)
    yield from ("none" if each is None else str(each) for each in values if each not in settings)


def problems(report: RunReport) -> Iterator[str]:
    """Yield the problems of a report of the right shape, each as field and reason."""
    yield from _out_of_range(report)
    if counts := list(_trial_counts(report)):
        yield from counts  # what follows counts these trials
        return
    yield from _totals(report)
    yield from _case_verdicts(report)
    yield from _noise(report)
    yield from _trials(report)
    yield from _waived(report)
    yield from _scope(report)
    found = run_verdict(report.cases, report.scope)
    yield from _same("verdict", report.verdict, found, "its cases give")
    yield from _gate(report)


def _out_of_range(report: RunReport) -> Iterator[str]:
    for score in _scores(report):
        if not 0 <= score <= 1:
            yield f"score {score:g} is not between 0 and 1"


def _scores(report: RunReport) -> Iterator[float]:
    if report.totals.score is not None:
        yield report.totals.score
    for case in report.cases:
        if case.score is not None:
            yield case.score
        yield from (trial.score for trial in case.trials)
        yield from (e.score for e in case.evaluators if isinstance(e, Assessed))
        yield from _base_scores(case.before)


def _base_scores(before: BaseResult | None) -> Iterator[float]:
    if before:
        yield from () if before.score is None else (before.score,)
        yield from (trial.score for trial in before.trials)
        yield from (e.score for e in before.evaluators if isinstance(e, Assessed))


def _totals(report: RunReport) -> Iterator[str]:
    computed = totals(report.cases, report.beyond_cases)
    for field in fields(computed):
        if field.name == "judge_noise":
            continue
        claimed, found = getattr(report.totals, field.name), getattr(computed, field.name)
        yield from _same(f"totals.{field.name}", claimed, found, "its cases give")


def _noise(report: RunReport) -> Iterator[str]:
    """Yield judge noise that the marks do not give; marks without their answer may add to it."""
    claimed = {(n.file, n.id, n.text): n for n in report.totals.judge_noise}
    found = {(n.file, n.id, n.text): n for n in judge_noise(report.cases)}
    hidden = hidden_marks(report.cases)
    for key in dict.fromkeys((*claimed, *found)):
        (differ, of), (least, known) = _counts(claimed.get(key)), _counts(found.get(key))
        more = hidden.get(key, 0)
        if not (known <= of <= known + more and least <= differ <= (of if more else least)):
            counts = f"{differ} of {of} answers differ, its cases give {least} of {known}"
            yield f"totals.judge_noise: {_shown(key[1])}: {counts}"


def _counts(noise: CriterionNoise | None) -> tuple[int, int]:
    return (noise.differing, noise.repeated) if noise else (0, 0)


def _case_verdicts(report: RunReport) -> Iterator[str]:
    limits = _limits(report)
    for at, case in enumerate(report.cases):
        if isinstance(case, Graded):
            found = verdict(case.score, case.gated_by, limits)
            source = "its score and gates give"
            yield from _same(f"cases.{at}.verdict", case.verdict, found, source)
            yield from (f"cases.{at}.{each}" for each in case_problems(case, limits))
        if case.before:
            yield from (f"cases.{at}.before.{each}" for each in case_problems(case.before, limits))


def _trial_counts(report: RunReport) -> Iterator[str]:
    for at, case in enumerate(report.cases):
        if isinstance(case, Graded) and not 0 <= case.further_trials < max(1, len(case.trials)):
            yield f"cases.{at}.further_trials is {case.further_trials} of {len(case.trials)} trials"


def _trials(report: RunReport) -> Iterator[str]:
    for at, case in enumerate(report.cases):
        if not isinstance(case, Graded):
            continue
        rank = case.trials_to_pass
        if rank < 0 or (rank and not case.trials):
            yield f"cases.{at}.trials_to_pass is {rank} of {len(case.trials)} trials"
        elif rank:
            found = kth_best(case.trials, rank).status
            if case.status != found:
                yield f"cases.{at}.verdict is {case.status}, {rank} trials must pass: {found}"


def _waived(report: RunReport) -> Iterator[str]:
    """Compute what the criteria without a waiver give, and which waivers are claimed."""
    limits = _limits(report)
    applied = {(each.file, each.case, each.criterion) for each in report.waivers}
    for at, case in enumerate(report.cases):
        if not isinstance(case, Graded) or not (case.waived or case.without_waived):
            continue
        unknown = [name for name in case.waived if (case.file, case.id, name) not in applied]
        if unknown:
            yield f"cases.{at}.waived: no waiver for {unknown[0]}"
        plain = replace(case, without_waived=None)
        found = with_waivers(plain, set(case.waived), limits).without_waived
        if found != case.without_waived:
            yield f"cases.{at}.without_waived is {case.without_waived}, its criteria give {found}"


def _scope(report: RunReport) -> Iterator[str]:
    scope = report.scope
    found = scope.narrowed()
    if scope.narrowed_by != found.narrowed_by:
        yield f"scope.narrowed_by is {_listed(scope)}, in order: {_listed(found)}"
    if scope.complete != found.complete:
        yield f"scope.complete is {_shown(scope.complete)}, narrowed by: {_listed(scope)}"
    cases = len({case.key for case in report.cases})
    if scope.suite is not None and scope.suite < cases:
        yield f"scope.suite is {scope.suite}, the report has {cases} cases"


def _listed(scope: Scope) -> str:
    return ", ".join(scope.narrowed_by) or "nothing"


def _gate(report: RunReport) -> Iterator[str]:
    found = with_gate(report).gate
    if len(found.rates) != len(report.gate.rates):
        yield f"gate.rates: {len(report.gate.rates)}; its cases give {len(found.rates)}"
        return
    if found.scores != report.gate.scores:
        yield "gate.scores: its cases give others"
    for claimed, rate in zip(report.gate.rates, found.rates, strict=True):
        if claimed != rate:
            name = f"group {rate.group}" if rate.group else "all cases"
            shown = f"{claimed.passed} of {claimed.counted}, {claimed.required} required"
            counts = f"{rate.passed} of {rate.counted}, {rate.required} required"
            yield f"gate.rates: {name}: {shown}; its cases give {counts}"
    yield from _same("gate.holds", report.gate.holds, found.holds, "its cases give")


def _limits(report: RunReport) -> Thresholds:
    return Thresholds(passing=report.gate.passing, borderline=report.gate.borderline)


def case_problems(case: Graded | BaseResult, limits: Thresholds) -> Iterator[str]:
    """Yield contradictions, each as field below the case and reason."""
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
    yield from _median(case.trials, own, rank, limits)


def _case(
    score: float, said: Verdict, evaluators: Sequence[EvaluatorResult], limits: Thresholds
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
    by_gates = verdict(found, _gates(evaluators), limits)
    yield from _same("verdict", said, by_gates, "its evaluators give")


def _gates(evaluators: Sequence[EvaluatorResult]) -> tuple[str, ...]:
    counted = (each for each in evaluators if isinstance(each, Assessed) and each.weight > 0)
    return tuple(gate for each in counted for gate in each.gated_by)


def _evaluator(found: Assessed, limits: Thresholds) -> Iterator[str]:
    for at, criterion in enumerate(found.criteria):
        yield from (f"criteria.{at}.{problem}" for problem in _criterion(criterion))
    gates = tuple(criterion.id for criterion in found.criteria if criterion.gated)
    yield from _same("gated_by", found.gated_by, gates, "its criteria give")
    said = verdict(found.score, found.gated_by, limits)
    yield from _same("verdict", found.verdict, said, "its score and gates give")
    parts = weighed(found.criteria)
    kind = KINDS.get(found.type)
    if kind and kind.means and total_points(parts):
        mean = rubric_score(parts)
        is_whole = found.type == "field_accuracy" and found.score in {0.0, 1.0}  # all or nothing
        if not is_whole or (found.score == 1) != (mean == 1):
            yield from _same("score", found.score, mean, "its criteria give")


def _criterion(found: CriterionResult) -> Iterator[str]:
    if not found.applies:
        yield from _same("normalised", found.normalised, 0.0, "its mark gives")
        yield from _same("gated", found.gated, False, "its mark gives")
        return
    expected = _normalised(found.kind, found.mark)
    if found.fault and expected is not None:
        expected = 1 - expected
    if not 0 <= found.normalised <= 1:
        yield f"normalised is {found.normalised:g}, not between 0 and 1"
    elif expected is not None:
        yield from _same("normalised", found.normalised, expected, "its mark gives")
    if found.kind == CHOICES:
        misses = found.gate == "required" and found.normalised < 1
        if found.gate in {"", "required"}:
            yield from _same("gated", found.gated, misses, "its choice gives")
    elif found.gate in {"", "required"} or _MINIMUM.fullmatch(found.gate):
        misses = _misses(found.gate, found.mark, fault=found.fault)
        yield from _same("gated", found.gated, misses, "its mark gives")


def _normalised(kind: str, mark: MarkValue) -> float | None:
    """Return the value of a mark; None: it depends on what the report does not hold."""
    if kind == CHOICES:
        return 0.0 if mark == CANNOT_ASSESS else None
    if kind in YES_OR_NO or isinstance(mark, bool | str):
        return 1.0 if mark is True else 0.0
    return min(mark, 11) / 10 if kind == "score-range" else None


def _misses(gate: str, mark: MarkValue, *, fault: bool) -> bool:
    if gate in {"", "required"} or isinstance(mark, bool | str):
        return bool(gate) and (mark is True) is fault
    return mark < int(gate.rpartition(" ")[2])


def _median(trials: Sequence[Trial], case: Trial, rank: int, limits: Thresholds) -> Iterator[str]:
    """Compare the case with the median of its trials, the lower of two, unless k must pass."""
    for at, trial in enumerate(trials):
        if trial.verdict not in {"fail", verdict(trial.score, (), limits)}:
            yield f"trials.{at}.verdict is {trial.verdict}, not possible with its score"
    if trials and rank == 0:  # the rule of k trials is checked with the waivers
        found = kth_best(trials, len(trials) - (len(trials) - 1) // 2)
        yield from _same("verdict", case.verdict, found.verdict, "its trials give")
        yield from _same("score", case.score, found.score, "its trials give")


def _same(field: str, said: object, found: object, source: str) -> Iterator[str]:
    if isinstance(said, float) and isinstance(found, int | float):
        if isclose(said, found, rel_tol=1e-6, abs_tol=1e-6):
            return
    elif said == found:
        return
    yield f"{field} is {_shown(said)}, {source} {_shown(found)}"


def _shown(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case tuple():
            return shortened(", ".join(map(str, value)), 100) or "empty"
        case _:
            return shortened(str(value), 20)
