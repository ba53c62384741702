"""Notes on a comparison: differences that make a baseline and a run hard to compare."""

from collections.abc import Iterator

from rubric_ci.text import numbers
from rubric_ci.values.report import JudgeInfo, RunReport
from rubric_ci.values.results import CaseResult


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
    return "" if case.status == "skipped" else case.target


def cached_marks(head: RunReport, *, pinned: bool) -> Iterator[str]:
    """Yield how many marks the sentinel cannot vouch for; a night has none."""
    cached, marks = head.totals.cached_marks, head.totals.marks
    if pinned and cached:
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
        f"{before} of {repeats} did when the reference was measured"
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
