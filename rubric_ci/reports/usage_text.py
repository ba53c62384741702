"""Usage, cost, judges and their noise, as text shared by all report formats."""

from typing import Final

from rubric_ci.gate.differences.config_changes import change_note
from rubric_ci.text import numbers
from rubric_ci.values.gate import GateInfo
from rubric_ci.values.report import CostEstimate, RunReport
from rubric_ci.values.results import CaseResult, Skipped
from rubric_ci.values.usage import Usage

MOST_NOISE: Final = 5  # criteria; report.json has all


def usage_of(case: CaseResult) -> list[str]:
    """Return cost and usage of a case; nothing if no model was requested."""
    if not (case.usage.calls or case.usage.cache_hits):
        return []
    return [word for word in (numbers.cost(case.usage), numbers.usage(case.usage)) if word]


def price(case: CaseResult) -> str:
    """Return the cost of a case for a table cell; an unknown cost is never $0."""
    return "" if isinstance(case, Skipped) else price_of(case.usage)


def brief(report: RunReport) -> list[str]:
    return [numbers.cost(report.totals), numbers.duration(report.duration_seconds)]


def summary(report: RunReport) -> list[str]:
    """Return cost, usage, duration, judges, thresholds and version of the run."""
    every = [
        numbers.cost(report.totals),
        numbers.usage(report.totals),
        _forecast(report.forecast) if report.forecast else "",
        numbers.duration(report.duration_seconds),
        judges(report),
        _thresholds(report.gate),
        report.tool,
    ]
    return [fact for fact in every if fact]


def _thresholds(gate: GateInfo) -> str:
    """Return the thresholds; nothing for adopted marks, where the tool decides what passes."""
    least = gate.passing, gate.borderline
    return f"pass ≥ {least[0]:g}, borderline ≥ {least[1]:g}" if any(least) else ""


def other_judges(case: CaseResult, report: RunReport) -> list[str]:
    """Return the evaluators with another judge than the run's, and their judges."""
    default = report.judge.model if report.judge else ""
    return [
        f"{evaluator.name} judged by {evaluator.judge}"
        for evaluator in case.evaluators
        if evaluator.judge and evaluator.judge != default
    ]


def _forecast(forecast: CostEstimate) -> str:
    cost = "price unknown" if forecast.cost_usd is None else numbers.dollars(forecast.cost_usd)
    return f"estimate: {numbers.plural(forecast.requests, 'model call')}, {cost}"


def judges(report: RunReport) -> str:
    """Return the judges of the run, and the version of the prompt; empty without one."""
    default = report.judge.model if report.judge else ""
    others = sorted(
        {
            evaluator.judge
            for case in report.cases
            for evaluator in case.evaluators
            if evaluator.judge and evaluator.judge != default
        }
    )
    more = f"; other judges: {', '.join(others)}" if others else ""
    if report.judge:
        return f"judge {default}, prompt {report.judge.prompt_version}{more}"
    return f"judge {', '.join(others)}" if others else ""


def price_of(usage: Usage) -> str:
    """Return the cost of a use of models; an unknown cost is never $0."""
    if not usage.calls:
        return "cached" if usage.cache_hits else ""
    if usage.unpriced_calls >= usage.calls:
        return "unknown"
    unknown = " + unknown" if usage.unpriced_calls else ""
    return numbers.dollars(usage.cost_usd) + unknown


def noise_lines(report: RunReport) -> list[str]:
    """Return a line for each criterion whose marks of one answer differ, the noisiest first."""
    found = [each for each in report.totals.judge_noise if each.differing]
    lines = [
        f"judge noise: {each.id} ({each.file}): {each.differing:,} of "
        f"{numbers.plural(each.repeated, 'answer')} got different marks when marked again"
        for each in found[:MOST_NOISE]
    ]
    more = len(found) - MOST_NOISE
    return [*lines, f"judge noise: {more:,} more criteria"] if more > 0 else lines


def report_notes(report: RunReport) -> list[str]:
    """Return the notes of a report and its judge noise.

    A change of the policy that is listed as a change of the grading is not repeated here.
    """
    known_notes = {
        change_note(each.about, each.before, each.after) for each in report.grading_changes
    }
    return [*(note for note in report.notes if note not in known_notes), *noise_lines(report)]
