"""`rubric-ci judge label`: a person marks answers in the terminal, criterion by criterion."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import click

from rubric_ci.errors import CannotConfigure, CannotFindEvals, ExitCode
from rubric_ci.files.project.loaded_project import load_project, open_project, show_problems
from rubric_ci.gate.report.report_file import check_ours, check_whole, read_report
from rubric_ci.parts.lab.calibration.label_file import ANOTHER, copies_of, draw
from rubric_ci.parts.lab.calibration.label_session import Session, label_answers, questions_of
from rubric_ci.parts.lab.calibration.labels import Draw
from rubric_ci.services.publish.copies import copies_in, keep_copies
from rubric_ci.system.output import is_interactive
from rubric_ci.text.escape import log_line
from rubric_ci.values.command_settings import LabelSettings
from rubric_ci.values.comparison import CaseKey
from rubric_ci.values.media import COPIES
from rubric_ci.values.report import RunReport


def label(settings: LabelSettings) -> ExitCode:
    """Ask for the marks that are missing until all are given or the person quits."""
    if not is_interactive():
        raise CannotConfigure(
            "label needs a terminal: it reads key presses",
            "run it by hand; `rubric-ci judge calibrate` reads the labels anywhere",
        )
    report = read_report(settings.report)
    check_ours(report, settings.report)
    loaded = load_project(settings.paths, open_project(settings.config))
    show_problems(loaded.diagnostics)
    cases = loaded.cases
    if settings.sample:
        check_whole(report)  # a part of the suite is not a random sample of it
    if report.covers:
        click.echo(f"{log_line(str(settings.report))} covers {report.covers}", err=True)
    draws = _draws(report, settings)
    questions = questions_of(report, cases, draws)
    if not questions:
        raise CannotFindEvals(
            f"{settings.report} has no answer to a case with rubrics of these files",
            "`rubric-ci run` writes the report whose answers are marked",
        )
    pictures = (each for question in questions for each in question.kept.media)
    read = copies_in(settings.report.parent / COPIES)
    keep_copies(pictures, read, copies_of(settings.labels), ANOTHER)
    session = Session(
        path=settings.labels, by=settings.by or None, split=settings.split, draws=draws
    )
    _show_end(label_answers(questions, session), len(questions), settings.labels)
    return ExitCode.OK


def _draws(report: RunReport, settings: LabelSettings) -> Mapping[CaseKey, Draw] | None:
    if settings.sample is None:
        return None
    draws = draw(report, *settings.sample, settings.seed)
    counts = Counter(each.judged for each in draws.values())
    for count, wanted, noun in zip(
        (counts["pass"], counts["fail"]), settings.sample, ("passes", "fails"), strict=True
    ):
        if count < wanted:
            click.echo(f"only {count} of the judge's {noun} can be drawn", err=True)
    return draws


def _show_end(marked: int, total: int, path: Path) -> None:
    click.echo(log_line(f"{marked:,} of {total:,} marks are in {path}"))
    click.echo(
        f"`rubric-ci judge calibrate {log_line(str(path))}` compares them with the judge's"
        if marked == total
        else "run the same command again to continue"
    )
