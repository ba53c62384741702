"""`rubric-ci history`: the file of runs, and its trends.

The file is JSON Lines, one run per line, the oldest first.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import click

from rubric_ci.errors import CannotReadHistory, ExitCode
from rubric_ci.files.project.working_tree import check_place, read_text, write_text
from rubric_ci.gate.report.report_file import read_report
from rubric_ci.parts.lab.history import RunRecord, dump, load, record_of, render
from rubric_ci.system.file_io import create_folder, writing
from rubric_ci.system.scratch import alone_in
from rubric_ci.text.escape import log_line

_HINT: Final = "make the file writable, or set another one with --history"


def add(report: Path, history: Path) -> ExitCode:
    found = read_report(report)
    with held(history):
        new = add_record(history, record_of(found))
    _say(f"added the run to {history}" if new else f"{history} has this run already")
    if found.covers:
        _say(f"the report covers {found.covers}; trends leave the run out")
    return ExitCode.OK


def show(history: Path, last: int) -> ExitCode:
    click.echo(render(records(history, last)), nl=False)
    return ExitCode.OK


def _say(line: str) -> None:
    click.echo(log_line(line), err=True)


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold the folder of a history: of two processes that add a run, none loses the other's.

    Raises CannotWriteFile as `add` does.
    """
    check_place(path)
    with writing(path, "the history", _HINT):
        create_folder(path.parent)
        with alone_in(path.parent):
            yield


def add_record(path: Path, record: RunRecord) -> bool:
    """Add a run; return False if the file has it already.

    Raises CannotReadHistory if a line is not a run, CannotWriteFile if the file is read-only or a
    link leads it out of the repository.
    """
    check_place(path)
    known = _runs(path) if path.exists() else []
    if record in known:
        return False
    every = sorted([*known, record], key=lambda each: each.started_at)
    write_text(path, "".join(f"{dump(each)}\n" for each in every), "the history", _HINT)
    return True


def records(path: Path, last: int | None = None) -> Sequence[RunRecord]:
    """Return the runs, at least one; of `last`, the newest ones only."""
    found = _runs(path) if path.exists() else []
    if not found:
        raise CannotReadHistory(
            f"{path}: there is no history",
            "add a run with `rubric-ci history add`, or set another file with --history",
        )
    return found[-last:] if last else found


def _runs(path: Path) -> list[RunRecord]:
    lines = enumerate(read_text(path).split("\n"), 1)
    return [load(line, f"{path}:{number}") for number, line in lines if line.strip()]
