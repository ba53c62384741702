"""Read, compare, write and print reports."""

import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import click

from rubric_ci.errors import CannotReadReport, CannotWriteFile
from rubric_ci.model.options import RunSettings
from rubric_ci.model.report import RunReport
from rubric_ci.project import discovery
from rubric_ci.reports import formats
from rubric_ci.reports.comparison import compare
from rubric_ci.reports.pooling import pool
from rubric_ci.reports.publish import on_github
from rubric_ci.reports.reference import Baseline
from rubric_ci.reports.reference_log_file import read_log
from rubric_ci.reports.report_file import read_report
from rubric_ci.system import atomic_write
from rubric_ci.system.terminal import use_color
from rubric_ci.text import workflow_commands

_HINT = "choose another folder with --output-dir"
NARROWEST, WIDEST = 60, 140  # columns of the table


def check_folder(settings: RunSettings) -> None:
    """Raise CannotWriteFile if reports cannot be written; called before any model request."""
    folder = settings.output_dir
    discovery.check_folder(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise CannotWriteFile(
            f"{folder}: cannot write reports to this folder: {error.strerror}", _HINT
        ) from error


def write_and_show(report: RunReport, settings: RunSettings) -> tuple[Path, ...]:
    """Write the files, then print the report; print it also if writing fails."""
    try:
        written = write_reports(report, settings)
    except CannotWriteFile:
        show_report(report, (), settings)
        raise
    show_report(report, written, settings)
    return written


def write_reports(report: RunReport, settings: RunSettings) -> tuple[Path, ...]:
    """Write each requested format, atomically."""
    written = []
    for name in settings.reports:
        path = settings.output_dir / formats.FILES[name]
        try:
            discovery.check_folder(path.parent)
            pieces = (piece.encode() for piece in formats.pieces(name, report))
            atomic_write.write_pieces(path, pieces)
        except OSError as error:
            raise CannotWriteFile(
                f"{path}: cannot write the report: {error.strerror}",
                _HINT,
            ) from error
        written.append(path)
    return tuple(written)


def show_report(report: RunReport, written: Sequence[Path], settings: RunSettings) -> None:
    """Print the verdict table, the reasons and the paths of the files."""
    from rubric_ci.reports import terminal

    width = max(NARROWEST, min(WIDEST, shutil.get_terminal_size((100, 24)).columns))
    files = [str(path) for path in written]
    color = use_color(settings.color, sys.stdout, os.environ)
    detail: terminal.Detail = (
        "verdict" if settings.quiet else "full" if settings.verbose else "failures"
    )
    text = terminal.render(report, width=width, color=color, files=files, detail=detail)
    if on_github(os.environ):  # model output must not give commands to the runner
        text = workflow_commands.disable_workflow_commands(text, secrets.token_hex(16))
    click.echo(text, color=color)  # else click removes colours without a terminal


def open_baseline(settings: RunSettings) -> Baseline | None:
    """Read the baseline of the command line; None if there is none or the file does not exist."""
    if settings.baseline is None or not settings.baseline.exists():
        return None
    return read_baseline(settings.baseline)


def with_baseline(report: RunReport, baseline: Baseline | None, settings: RunSettings) -> RunReport:
    """Add the comparison with the baseline, if one was requested.

    The first run of a scheduled workflow has no baseline: a note, not an error. With a base there
    is a comparison, and no note.
    """
    compared = report.against is not None and bool(report.against.commit)
    if settings.baseline is None or (baseline is None and compared):
        return report
    if baseline is None:
        note = f"No comparison: the baseline {settings.baseline.as_posix()} does not exist."
        return replace(report, notes=(*report.notes, note))
    complete = not (settings.cases or settings.tags or settings.paths or report.shard)
    comparison = compare(
        report,
        baseline.report,
        log=baseline.log,
        tolerance=settings.tolerance,
        complete=complete,
    )
    return replace(report, comparison=comparison)


def read_baseline(path: Path) -> Baseline:
    """Return the report of a file, or the pooled reports of a folder; raises CannotReadReport."""
    if not path.is_dir():
        return Baseline(report=read_report(path))
    found = find_reports([path], "create the reports with `rubric-ci run`")
    return Baseline(report=pool([read_report(each) for each in found]), log=read_log(path))


def find_reports(
    paths: Sequence[Path], hint: str = "pass the reports of the shards"
) -> Iterator[Path]:
    """Yield report files; for a folder, each `report.json` below it."""
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        found = sorted(path.rglob(formats.FILES["json"]))
        if not found:
            raise CannotReadReport(
                f"{path.as_posix()}: no {formats.FILES['json']} found",
                hint,
            )
        yield from found
