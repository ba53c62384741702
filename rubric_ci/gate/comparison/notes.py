"""Notes on a comparison: differences that make a baseline and a run hard to compare."""

from collections.abc import Iterator
from typing import Final

from rubric_ci.gate.comparison import alarm_budget
from rubric_ci.gate.comparison.case_change import ChangeRules
from rubric_ci.text import numbers
from rubric_ci.text.statistics.night_effect import NIGHTS, NightEffect
from rubric_ci.values.report import JudgeInfo, RunReport
from rubric_ci.values.results import CaseResult, Skipped

MOST_ALIKE: Final = 0.2
"""Correlation within a night up to which two nights in a row keep within the budget."""


def parts_of_suite(head: RunReport, baseline: RunReport) -> Iterator[str]:
    """Yield the part of the suite that each report covers, unless it is the whole."""
    for report, name in ((head, "This report"), (baseline, "The baseline")):
        if report.covers:
            yield f"{name} covers {report.covers}; the other cases are not compared."
    kept = set(map(_target, of_asked_targets(head, baseline)))
    if others := sorted({*map(_target, baseline.cases)} - kept):
        names = numbers.listed(others)
        yield f"The baseline also has the targets {names}, which this run does not ask."


def of_asked_targets(head: RunReport, baseline: RunReport) -> tuple[CaseResult, ...]:
    """Return the cases of the baseline but for those that the run asks of other targets."""
    targets = set(map(_target, head.cases))
    asked = {(case.file, _own_id(case)) for case in head.cases}
    return tuple(
        case
        for case in baseline.cases
        if _target(case) in targets or (case.file, _own_id(case)) not in asked
    )


def _own_id(case: CaseResult) -> str:
    """Return the id of a case without the target that it has if several answer."""
    return case.id.removesuffix(f" [{_target(case)}]")


def _target(case: CaseResult) -> str:
    return "" if isinstance(case, Skipped) else case.target


def too_few_trials(head: RunReport, baseline: RunReport, rules: ChangeRules) -> Iterator[str]:
    """Yield the reasons why a baseline with some trials has no budget of false alarms."""
    trials, needed = alarm_budget.trials_per_case(baseline.cases), rules.config.reference_trials
    if rules.tested and 0 < trials < needed:
        yield (
            f"The reference is provisional: it has {trials} of {needed} trials per case, so that "
            "only large drops are found; the next runs that `rubric-ci baseline keep` adds have "
            "the others."
        )
    if rules.tested is None and trials > 1 and alarm_budget.trials_per_case(head.cases):
        yield (
            f"The baseline has {trials} trials per case; false alarms are kept within a budget "
            f"from {needed} on (`regression.reference_trials`): create it with "
            f"`rubric-ci run --trials {needed}`."
        )


def too_few_nights(rules: ChangeRules, *, pinned: bool) -> Iterator[str]:
    """Yield a warning that one night may be lower, if the reference cannot show how nights differ.

    Without a log, one run decides against one run, and the documented assumption is all there is.
    """
    if pinned and rules.tested and rules.nights is None:
        yield (
            f"The reference has fewer than {NIGHTS} nights and does not show how much nights "
            "differ: a mean score may be lower by what a night shares, such as a lenient judge, "
            "more often than `false_alarms` says. Gather it over five nights of 3 trials "
            "(`rubric-ci baseline keep`)."
        )


def nights_alike(alike: NightEffect | None) -> Iterator[str]:
    """Yield a warning that the budget of false alarms does not hold, if nights are clusters."""
    if alike is None or not alike.clear:
        return
    holds = (
        "Two nights in a row keep within the budget up to a correlation of 0.2"
        if alike.correlation <= MOST_ALIKE
        else "Nor do two nights in a row keep within it, beyond a correlation of 0.2"
    )
    yield (
        "Trials of one night of the reference agree more than trials of different nights "
        f"(correlation {alike.correlation:.2f}), so that a single night is worse by chance more "
        f"often than `false_alarms` says. {holds}. Find what the trials of a night share (a cache "
        "before the model, a fixed seed, a model of the day), or raise `reference_trials`, so "
        "that the reference has more nights."
    )


def cached_marks(head: RunReport, rules: ChangeRules) -> Iterator[str]:
    """Yield how many marks the sentinel cannot vouch for; a night has none."""
    cached, marks = head.totals.cached_marks, head.totals.marks
    if rules.tested is not None and cached:
        yield (
            f"{cached:,} of {numbers.plural(marks, 'mark')} are from the cache, perhaps of an "
            "earlier judge; `rubric-ci run --baseline` asks the judge for each."
        )


def why_judge_moved(head: RunReport, baseline: RunReport, *, pinned: bool) -> str:
    """Return why this run and the reference have different judges; empty: they have one.

    The settings decide for a pinned reference only; for other baselines they are a note.
    """
    if pinned and head.judge and baseline.judge and head.judge != baseline.judge:
        return f"The judge changed ({'; '.join(_judge_differences(baseline.judge, head.judge))})"
    seen = head.sentinel
    if seen is None or not seen.moved:
        return ""
    (before, repeats), (differing, requests) = seen.repeated, seen.asked
    return (
        f"The judge moved: {differing} of {requests} marks of remembered answers differ, "
        f"{before} of {repeats} did when the reference was measured (p = {seen.p_value:.2g})"
    )


def differing_judges(head: RunReport, baseline: RunReport) -> Iterator[str]:
    """Yield the differences of judge and thresholds, which change scores as answers do."""
    if head.judge and baseline.judge and head.judge != baseline.judge:
        differences = "; ".join(_judge_differences(baseline.judge, head.judge))
        yield f"The judges differ ({differences}): score changes may come from the judge."
    then, now = baseline.gate, head.gate
    if (then.passing, then.borderline) != (now.passing, now.borderline):
        yield (
            f"The thresholds differ (pass ≥ {then.passing:g}, now ≥ {now.passing:g}; "
            f"borderline ≥ {then.borderline:g}, now ≥ {now.borderline:g})."
        )


def _judge_differences(then: JudgeInfo, now: JudgeInfo) -> Iterator[str]:
    """Yield the settings that differ."""
    if then.model != now.model:
        yield f"`{then.model}`, now `{now.model}`"
    if then.prompt_version != now.prompt_version:
        yield f"prompt {then.prompt_version}, now {now.prompt_version}"
    if then.mode != now.mode:
        yield f"{then.mode}, now {now.mode}"
    if then.votes != now.votes:
        yield f"votes {then.votes}, now {now.votes}"
