"""The report of a run, complete: facts of the grading, secrets removed, correction, comparison."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from rubric_ci.calibration.correction import with_correction
from rubric_ci.comparison.baseline import with_comparison
from rubric_ci.github.actions import read_event
from rubric_ci.model.report import CostEstimate, RunReport, totals
from rubric_ci.probe.output import PROBE, with_figures
from rubric_ci.project.discovery import read_text
from rubric_ci.report.build import build_report
from rubric_ci.report.redaction import without_secrets
from rubric_ci.run.grade import GradedRun, RunInput
from rubric_ci.run.inputs import has_every_case
from rubric_ci.selection import last_failed
from rubric_ci.system import masking
from rubric_ci.system.runner import in_workflow


def finish(
    inputs: RunInput,
    graded: GradedRun,
    environment: Mapping[str, str],
    *,
    started_at: datetime,
    seconds: float,
    forecast: CostEstimate | None,
) -> RunReport:
    """Return the report of a run."""
    outcome, settings = graded.outcome, inputs.settings
    report = build_report(
        inputs.loaded,
        inputs.tasks,
        outcome.results,
        settings,
        selection=inputs.selection,
        started_at=started_at,
        seconds=seconds,
    )
    report = replace(
        report,
        forecast=forecast,
        notes=(*_withheld(report, environment), *report.notes, *inputs.context.notes),
        responders=inputs.context.responders(),
        against=outcome.against,
        removed=outcome.removed,
        sentinel=graded.sentinel,
        preflight=graded.preflight,
        totals=totals(report.cases, graded.preflight),
    )
    report = _with_probe(report, settings.output_dir / PROBE)
    report = without_secrets(report, masking.redactor())
    report = with_correction(report, inputs.loaded)
    return with_comparison(report, inputs.baseline, settings, environment)


def _with_probe(report: RunReport, file: Path) -> RunReport:
    """Add the figures of an earlier probe."""
    if not file.exists():
        return report
    return with_figures(report, read_text(file), file.name)


def _withheld(report: RunReport, environment: Mapping[str, str]) -> Iterator[str]:
    """Yield why the cases of a stranger's pull request were skipped."""
    skipped = in_workflow(environment) and "offline" in report.scope.narrowed_by
    event = read_event(environment) if skipped else None
    if event and event.without_secrets:
        yield f"{event.without_secrets}: only what is recorded was graded."


def remember(inputs: RunInput, graded: GradedRun) -> None:
    """Remember which cases did not pass, for --last-failed; raises CannotWriteFile."""
    every = {(case.file, case.id) for file in inputs.loaded.files for case in file.cases}
    suite = every if has_every_case(inputs.loaded, inputs.selection) else None
    last_failed.remember(inputs.settings.output_dir, graded.outcome.results, suite)
