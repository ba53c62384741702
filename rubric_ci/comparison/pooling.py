"""Several reports pooled into one reference: the trials of each case, the oldest first.

A case that only some of the reports have is in the reference with the trials of those.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from rubric_ci.errors import CannotReadReport
from rubric_ci.model.reference_log import CaseKey
from rubric_ci.model.report import RunReport
from rubric_ci.model.results import CaseResult, Graded, Trial
from rubric_ci.model.trials import first_trials, tier


def pool(reports: Sequence[RunReport]) -> RunReport:
    """Return the newest report with the trials of all reports; raises CannotReadReport.

    The oldest trials come first, so that a later report moves no reference that has enough trials.
    Further trials of suspects are left out: whether a case has them depends on its first trials.
    """
    ordered = sorted(reports, key=lambda report: report.started_at)
    _check_comparable(ordered)
    trials: dict[CaseKey, list[Trial]] = defaultdict(list)
    cases: dict[CaseKey, CaseResult] = {}
    for report in ordered:
        for case in report.cases:
            if isinstance(case, Graded):
                trials[case.file, case.id].extend(first_trials(case))
            if isinstance(case, Graded) or (case.file, case.id) not in trials:
                cases[case.file, case.id] = case
    return replace(
        ordered[-1],
        cases=tuple(_with_trials(case, trials) for case in cases.values()),
        sentinel=next((each.sentinel for each in ordered if each.sentinel), None),
    )


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
