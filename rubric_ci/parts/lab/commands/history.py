"""`rubric-ci history`: add runs, show trends, write the page and the badge, export and import."""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import click

from rubric_ci.errors import CannotReadHistory, CannotWriteFile, ExitCode
from rubric_ci.files.project.discovery import read_text, write_text
from rubric_ci.gate.report.report_file import read_report
from rubric_ci.parts.lab.history.database import History, check_untracked
from rubric_ci.parts.lab.history.from_report import record_of
from rubric_ci.parts.lab.history.record import RunRecord, dump, load
from rubric_ci.text import numbers
from rubric_ci.text.escape import json_text, log_line
from rubric_ci.values.option_values import REPORT
from rubric_ci.values.report import RunReport

LINES: Final = "history.jsonl"
LATEST: Final = "report.html"


def add(report: Path, history: Path, link: str) -> ExitCode:
    """Add the record of a report."""
    check_untracked(history, os.environ)
    found = read_report(report)
    new = History(path=history).add([record_of(found, link=link)])
    _say(f"added the run to {history}" if new else f"{history} has this run already")
    _say_part(found)
    return ExitCode.OK


def show(history: Path, last: int) -> ExitCode:
    """Print the trends of the newest runs."""
    from rubric_ci.parts.lab.history.runs_text import trends

    click.echo(trends(_records(history, last)), nl=False)
    return ExitCode.OK


def show_criteria(reports: Sequence[Path]) -> ExitCode:
    """Print how often each criterion of the reports decided a verdict."""
    from rubric_ci.parts.lab.history import criteria

    found = [read_report(path) for path in reports or (Path(REPORT),)]
    click.echo(criteria.text(criteria.criteria(found)) or "the reports have no graded criterion")
    return ExitCode.OK


def write_page(history: Path, output: Path, title: str, last: int | None) -> ExitCode:
    """Write the page."""
    from rubric_ci.parts.lab.history import history_page

    _write(output, history_page.render(_records(history, last), title))
    return ExitCode.OK


def write_badge(history: Path, output: Path, label: str) -> ExitCode:
    """Write the badge."""
    from rubric_ci.parts.lab.history import runs_text

    _write(output, runs_text.render(_records(history), label))
    return ExitCode.OK


def export(history: Path, output: Path | None) -> ExitCode:
    """Write every run as a line of JSON, the oldest first."""
    text = _dumped(_records(history))
    if output is None:
        sys.stdout.write(json_text(text))
    else:
        _write(output, text)
    return ExitCode.OK


def import_lines(parts: Sequence[Path], history: Path) -> ExitCode:
    """Add the runs of exported files; runs that are there already are left as they are."""
    check_untracked(history, os.environ)
    records = [record for path in parts for record in _exported(path)]
    new = History(path=history).add(records)
    _say(f"added {new:,} of {numbers.plural(len(records), 'run')} to {history}")
    return ExitCode.OK


def publish(report: Path, site: Path, title: str) -> ExitCode:
    """Add a report to the history of a site, and write its page, badge and latest report."""
    from rubric_ci.parts.lab.history import history_page, runs_text
    from rubric_ci.parts.lab.history.trends import in_order
    from rubric_ci.reports.render import formats

    found, lines = read_report(report), site / LINES
    known = [*_exported(lines)] if lines.exists() else []
    records = in_order([*known, record_of(found)])
    _say_part(found)
    _write(lines, _dumped(records))
    _write(site / LATEST, formats.render("html", found))
    latest = [*records[:-1], replace(records[-1], link=LATEST)]
    _write(site / "index.html", history_page.render(latest, title))
    _write(site / "badge.svg", runs_text.render(records))
    return ExitCode.OK


def _records(history: Path, last: int | None = None) -> Sequence[RunRecord]:
    check_untracked(history, os.environ)
    found = tuple(History(path=history).records(last))
    if not found:
        raise CannotReadHistory(f"{history}: no runs", "add one with `rubric-ci history add`")
    return found


def _dumped(records: Iterable[RunRecord]) -> str:
    return "".join(f"{dump(record)}\n" for record in records)


def _exported(path: Path) -> Iterator[RunRecord]:
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if line.strip():
            yield load(line, f"{path}:{number}")


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
        _say(f"the report covers {report.covers}; trends and badge leave the run out")


def _say(line: str) -> None:
    click.echo(log_line(line), err=True)
