"""Several reports pooled into one reference: the trials of each case, the oldest first."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from rubric_ci.errors import CannotReadReport
from rubric_ci.model.report import RunReport
from rubric_ci.model.results import CaseResult, Graded, Trial
from rubric_ci.reports.alarm_budget import CaseKey, tier, trials_of


def pool(reports: Sequence[RunReport]) -> RunReport:
    """Return the newest report with the trials of all reports; raises CannotReadReport.

    The oldest trials come first, so that a later report moves no reference that has enough trials.
    Further trials of suspects are left out: whether a case has them depends on its first trials.
    """
    ordered = sorted(reports, key=lambda report: report.started_at)
    _check_comparable(ordered)
    trials: dict[CaseKey, list[Trial]] = defaultdict(list)
    for report in ordered:
        for case in _graded(report):
            first = len(trials_of(case)) - case.further_trials
            trials[case.file, case.id].extend(trials_of(case)[:first])
    newest = ordered[-1]
    return replace(newest, cases=tuple(_with_trials(case, trials) for case in newest.cases))


def _check_comparable(reports: Sequence[RunReport]) -> None:
    for what, found in (
        ("judges", {report.judge for report in reports}),
        ("thresholds", {(r.gate.passing, r.gate.borderline) for r in reports}),
    ):
        if len(found) > 1:
            raise CannotReadReport(
                f"the reports of the baseline have different {what}: "
                f"{', '.join(sorted(map(str, found)))}",
                "keep the reports of one judge and one configuration in the folder",
            )


def _graded(report: RunReport) -> Iterable[Graded]:
    return (case for case in report.cases if isinstance(case, Graded))


def _with_trials(case: CaseResult, trials: dict[CaseKey, list[Trial]]) -> CaseResult:
    """Return a graded case with its pooled trials and the verdict and score of their median."""
    pooled = trials[case.file, case.id]
    if not isinstance(case, Graded) or len(pooled) < 2:
        return case
    ranked = sorted(pooled, key=lambda trial: (tier(trial.verdict), trial.score))
    median = ranked[(len(ranked) - 1) // 2]
    return replace(
        case,
        verdict=median.verdict,
        score=median.score,
        trials=tuple(pooled),
        further_trials=0,
    )
