"""`--baseline`: an earlier report, read before anything is asked and compared with at the end."""

from dataclasses import replace
from pathlib import Path

from rubric_ci import wire
from rubric_ci.comparison.reports import compare
from rubric_ci.files import read_text
from rubric_ci.model.report import RunReport
from rubric_ci.model.settings import RunSettings


def open_baseline(settings: RunSettings) -> RunReport | None:
    """Read the baseline that the command line names; None where there is none, or none yet."""
    if settings.baseline is None or not settings.baseline.exists():
        return None
    return read_report(settings.baseline)


def with_baseline(
    report: RunReport, baseline: RunReport | None, settings: RunSettings
) -> RunReport:
    """Add the comparison with the baseline, if one was asked for.

    A scheduled workflow has none yet the first time: that is told, and is no error.
    """
    if settings.baseline is None:
        return report
    if baseline is None:
        note = f"There is no baseline yet: {settings.baseline.as_posix()} does not exist."
        return replace(report, notes=(*report.notes, note))
    complete = not (settings.cases or settings.tags or settings.paths or report.shard)
    comparison = compare(report, baseline, tolerance=settings.tolerance, complete=complete)
    return replace(report, comparison=comparison)


def read_report(path: Path) -> RunReport:
    """Return the report of a file; raises CannotReadReport."""
    return wire.read(read_text(path), path.as_posix())
