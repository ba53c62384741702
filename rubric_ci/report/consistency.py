"""Contradictions inside a report: its numbers and verdicts are computed from its cases again.

A report may come from a fork, whose code wrote it.
"""

from collections.abc import Iterator
from dataclasses import fields, replace
from math import isclose

from rubric_ci.model.report import RunReport, run_verdict, totals
from rubric_ci.model.results import Assessed, BaseResult, Graded, Skipped, kth_best, standing
from rubric_ci.model.scope import Scope
from rubric_ci.model.scoring import Thresholds, verdict
from rubric_ci.model.waivers import with_waivers
from rubric_ci.report import case_consistency
from rubric_ci.report.gate import with_gate
from rubric_ci.text import numbers


def problems(report: RunReport) -> Iterator[str]:
    """Yield what is wrong with a report of the right shape, each as field and reason."""
    yield from _out_of_range(report)
    yield from _totals(report)
    yield from _case_verdicts(report)
    yield from _trials(report)
    yield from _waived(report)
    yield from _scope(report)
    yield from _run_verdict(report)
    yield from _gate(report)


def _out_of_range(report: RunReport) -> Iterator[str]:
    for score in _scores(report):
        if not 0 <= score <= 1:
            yield f"score {score:g} is not between 0 and 1"


def _scores(report: RunReport) -> Iterator[float]:
    if report.totals.score is not None:
        yield report.totals.score
    for case in report.cases:
        if isinstance(case, Graded):
            yield case.score
            yield from (trial.score for trial in case.trials)
        if not isinstance(case, Skipped):
            yield from (e.score for e in case.evaluators if isinstance(e, Assessed))
            yield from _base_scores(case.before)


def _base_scores(before: BaseResult | None) -> Iterator[float]:
    if before:
        yield from () if before.score is None else (before.score,)
        yield from (trial.score for trial in before.trials)
        yield from (e.score for e in before.evaluators if isinstance(e, Assessed))


def _totals(report: RunReport) -> Iterator[str]:
    computed = totals(report.cases, report.preflight)
    for field in fields(computed):
        claimed, found = getattr(report.totals, field.name), getattr(computed, field.name)
        if not _same(claimed, found):
            yield f"totals.{field.name} is {_shown(claimed)}, its cases give {_shown(found)}"


def _same(claimed: float | None, found: float | None) -> bool:
    if isinstance(claimed, float) and isinstance(found, float):
        return isclose(claimed, found, rel_tol=1e-6, abs_tol=1e-6)
    return claimed == found


def _shown(number: float | None) -> str:
    return "null" if number is None else numbers.shortened(str(number), 20)


def _case_verdicts(report: RunReport) -> Iterator[str]:
    limits = _limits(report)
    for at, case in enumerate(report.cases):
        if isinstance(case, Graded):
            found = verdict(case.score, case.gated_by, limits).value
            if case.verdict != found:
                yield f"cases.{at}.verdict is {case.verdict}, its score and gates give {found}"
            yield from (f"cases.{at}.{each}" for each in case_consistency.problems(case, limits))
        if not isinstance(case, Skipped) and case.before:
            found_before = case_consistency.problems(case.before, limits)
            yield from (f"cases.{at}.before.{each}" for each in found_before)


def _trials(report: RunReport) -> Iterator[str]:
    for at, case in enumerate(report.cases):
        if not isinstance(case, Graded) or not case.trials_to_pass:
            continue
        if case.trials_to_pass < 0 or not case.trials:
            yield f"cases.{at}.trials_to_pass is {case.trials_to_pass} of {len(case.trials)} trials"
        else:
            found = standing(kth_best(case.trials, case.trials_to_pass))
            if standing(case) != found:
                rule = f"{case.trials_to_pass} trials must pass"
                yield f"cases.{at}.verdict is {standing(case)}, {rule}: {found}"


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
        yield f"scope.complete is {_json(scope.complete)}, narrowed by: {_listed(scope)}"
    cases = len({(case.file, case.id) for case in report.cases})
    if scope.suite is not None and scope.suite < cases:
        yield f"scope.suite is {scope.suite}, the report has {cases} cases"


def _listed(scope: Scope) -> str:
    return ", ".join(scope.narrowed_by) or "nothing"


def _run_verdict(report: RunReport) -> Iterator[str]:
    scope = report.scope
    found = run_verdict(report.cases, complete=not (scope.unread or scope.unfinished))
    if report.verdict != found:
        yield f"verdict is {report.verdict}, its cases give {found}"


def _gate(report: RunReport) -> Iterator[str]:
    found = with_gate(report).gate
    for claimed, rate in zip(report.gate.rates, found.rates, strict=True):
        if claimed != rate:
            name = f"group {rate.group}" if rate.group else "all cases"
            shown = f"{claimed.passed} of {claimed.counted}, {claimed.required} required"
            counts = f"{rate.passed} of {rate.counted}, {rate.required} required"
            yield f"gate.rates: {name}: {shown}; its cases give {counts}"
    if report.gate.holds != found.holds:
        yield f"gate.holds is {_json(report.gate.holds)}, its cases give {_json(found.holds)}"


def _limits(report: RunReport) -> Thresholds:
    return Thresholds(passing=report.gate.passing, borderline=report.gate.borderline)


def _json(value: bool) -> str:
    return "true" if value else "false"
