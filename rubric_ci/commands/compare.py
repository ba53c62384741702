"""`rubric-ci compare`, and `--baseline` of a run: what is worse than it was, beyond noise."""

from dataclasses import replace
from pathlib import Path

import click

from rubric_ci import wire
from rubric_ci.comparison import compare
from rubric_ci.errors import ExitCode
from rubric_ci.files import read_text
from rubric_ci.model.report import RunReport
from rubric_ci.model.settings import CompareSettings, RunSettings
from rubric_ci.render import compared


def compare_reports(settings: CompareSettings) -> ExitCode:
    """Print the comparison; a regression fails, and so does a case without a verdict."""
    head = _read(settings.head)
    comparison = compare(head, _read(settings.baseline), tolerance=settings.tolerance)
    click.echo(compared.FORMATS[settings.format](comparison), nl=False)
    if comparison.regressed:
        return ExitCode.GATE
    return ExitCode.NO_VERDICT if comparison.count("errored") else ExitCode.OK


def with_baseline(report: RunReport, settings: RunSettings) -> RunReport:
    """Add the comparison with the baseline that the command line names, if it does.

    A scheduled workflow has none yet the first time: that is told, and is no error.
    """
    if settings.baseline is None:
        return report
    if not settings.baseline.exists():
        note = f"There is no baseline yet: {settings.baseline.as_posix()} does not exist."
        return replace(report, notes=(*report.notes, note))
    complete = not (settings.cases or settings.tags or settings.paths or report.shard)
    comparison = compare(
        report, _read(settings.baseline), tolerance=settings.tolerance, complete=complete
    )
    return replace(report, comparison=comparison)


def _read(path: Path) -> RunReport:
    return wire.read(read_text(path), path.as_posix())
