"""`rubric-ci history`: add runs, show trends, write the page, publish a site."""

from dataclasses import replace
from pathlib import Path
from typing import Final

import click

from rubric_ci.errors import CannotWriteFile, ExitCode
from rubric_ci.files.project.discovery import write_text
from rubric_ci.gate.report.report_file import read_report
from rubric_ci.parts.lab.history import history_file
from rubric_ci.parts.lab.history.record import record_of
from rubric_ci.text.escape import log_line
from rubric_ci.values.report import RunReport

LINES: Final = "history.jsonl"
LATEST: Final = "report.html"


def add(report: Path, history: Path, link: str) -> ExitCode:
    """Add the record of a report."""
    found = read_report(report)
    with history_file.held(history):
        new = history_file.add(history, record_of(found, link=link))
    _say(f"added the run to {history}" if new else f"{history} has this run already")
    _say_part(found)
    return ExitCode.OK


def show(history: Path, last: int) -> ExitCode:
    """Print the trends of the newest runs."""
    from rubric_ci.parts.lab.history.runs_text import trends

    click.echo(trends(history_file.records(history, last)), nl=False)
    return ExitCode.OK


def write_page(history: Path, output: Path, title: str, last: int | None) -> ExitCode:
    """Write the page."""
    from rubric_ci.parts.lab.history import history_page

    _write(output, history_page.render(history_file.records(history, last), title))
    return ExitCode.OK


def publish(report: Path, site: Path, title: str) -> ExitCode:
    """Add a report to the history of a site, and write its page and latest report."""
    from rubric_ci.parts.lab.history import history_page
    from rubric_ci.reports.render import formats

    found = read_report(report)
    record = record_of(found)
    _say_part(found)
    with history_file.held(site / LINES):
        history_file.add(site / LINES, record)
        *before, last = history_file.records(site / LINES)
        page = history_page.render([*before, replace(last, link=LATEST)], title)
        if last == record:  # another process may have added a later run
            _write(site / LATEST, formats.render("html", found))
        _write(site / "index.html", page)
    return ExitCode.OK


def _write(path: Path, text: str) -> None:
    try:
        write_text(path, text)
    except OSError as error:
        raise CannotWriteFile(
            f"{path}: cannot write: {error.strerror}", "choose another file with --output"
        ) from error
    _say(f"wrote {path}")


def _say_part(report: RunReport) -> None:
    if report.covers:
        _say(f"the report covers {report.covers}; trends leave the run out")


def _say(line: str) -> None:
    click.echo(log_line(line), err=True)
