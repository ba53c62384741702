"""`rubric-ci label`: a person marks answers in the terminal, criterion by criterion."""

import sys
from pathlib import Path

import click

from rubric_ci.calibration.label_session import label_answers, questions_of
from rubric_ci.errors import CannotConfigure, CannotFindEvals, ExitCode
from rubric_ci.model.options import LabelSettings
from rubric_ci.project.loaded_project import load_project, open_project, show_problems
from rubric_ci.reports.files import read_report
from rubric_ci.text.escape import log_line


def label(settings: LabelSettings) -> ExitCode:
    """Ask for the marks that are missing until all are given or the person quits."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise CannotConfigure(
            "label needs a terminal: it reads key presses",
            "run it by hand; `rubric-ci calibrate` reads the labels anywhere",
        )
    loaded = load_project(settings.paths, open_project(settings.config))
    show_problems(loaded.diagnostics)
    cases = [case for file in loaded.files for case in file.cases]
    questions = questions_of(read_report(settings.report), cases)
    if not questions:
        raise CannotFindEvals(
            f"{settings.report} has no answer to a case with rubrics of these files",
            "`rubric-ci run` writes the report whose answers are marked",
        )
    _show_end(label_answers(questions, settings.labels), len(questions), settings.labels)
    return ExitCode.OK


def _show_end(marked: int, total: int, path: Path) -> None:
    click.echo(log_line(f"{marked:,} of {total:,} marks are in {path}"))
    click.echo(
        f"`rubric-ci calibrate {log_line(str(path))}` compares them with the judge's"
        if marked == total
        else "run the same command again to continue"
    )
