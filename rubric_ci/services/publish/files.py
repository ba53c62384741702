"""Write the report files and print the report."""

import os
import shutil
import sys
import tempfile
from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import click

from rubric_ci.errors import CannotReadFile, CannotWriteFile
from rubric_ci.files.project import working_tree
from rubric_ci.reports import formats
from rubric_ci.services.publish.workflow import Workflow
from rubric_ci.system import file_io
from rubric_ci.system.output import use_color
from rubric_ci.values.command_settings import ReportOptions
from rubric_ci.values.formats_and_defaults import REPORT_FILES, ReportFormat
from rubric_ci.values.media import COPIES, INLINED, Picture
from rubric_ci.values.report import RunReport

HINT = "choose another folder with --output-dir"
NARROWEST, WIDEST = 60, 140  # columns of the table


def check_outputs(options: ReportOptions) -> None:
    """Raise CannotWriteFile if reports cannot be written; called before any model request."""
    formats.check_there(_names(options))
    folder = options.output_dir
    working_tree.check_place(folder)
    with file_io.writing(folder, "reports to this folder", HINT):
        _create(folder)
        with tempfile.TemporaryFile(dir=folder):
            pass


def _names(options: ReportOptions) -> Iterable[ReportFormat]:
    """Return the formats that are asked for, and the page's format if the comment links it."""
    more: tuple[ReportFormat, ...] = ("html",) if options.comment.page else ()
    return dict.fromkeys((*options.reports, *more))


def _create(folder: Path) -> None:
    """Create the folder; git ignores a new one with all that is in it."""
    is_new = not folder.exists()
    file_io.create_folder(folder)
    if is_new:
        (folder / ".gitignore").write_bytes(b"*\n")


def write_and_show(report: RunReport, options: ReportOptions) -> tuple[Path, ...]:
    """Write the files, then print the report; print it also if writing fails."""
    try:
        written = write_reports(report, options)
    except CannotWriteFile:
        show_report(report, (), options)
        raise
    show_report(report, written, options)
    return written


def write_reports(report: RunReport, options: ReportOptions) -> tuple[Path, ...]:
    """Write each requested format, atomically."""
    written = []
    page = options.comment.page
    working_tree.check_place(options.output_dir)
    with file_io.writing(options.output_dir, "the report", HINT):
        _create(options.output_dir)
    for name in _names(options):
        of_page = name == "html" and page.endswith(".html")
        path = options.output_dir / (Path(page).name if of_page else REPORT_FILES[name])
        with file_io.writing(path, "the report", HINT):
            working_tree.check_place(path.parent)
            found = formats.pieces(name, report, _inline(options.output_dir))
            pieces = (piece.encode() for piece in found)
            file_io.clean(path)
            file_io.write_pieces(path, pieces)
        written.append(path)
    return tuple(written)


def _inline(folder: Path) -> Callable[[Picture], str]:
    """Return a function that makes a `data:` URI of a copy, up to the limit of the page."""
    left = [INLINED]
    known: dict[str, str] = {}

    def inline(picture: Picture) -> str:
        if picture.file not in known:
            from rubric_ci.services.publish.copies import copies_in  # few reports have one

            try:
                data = copies_in(folder / COPIES)(picture)
            except CannotReadFile:
                return ""
            if len(data) > left[0]:
                return ""
            left[0] -= len(data)
            known[picture.file] = f"data:{picture.type};base64,{b64encode(data).decode('ascii')}"
        return known[picture.file]

    return inline


def show_report(report: RunReport, written: Sequence[Path], options: ReportOptions) -> None:
    """Print the verdict table, the reasons and the paths of the files."""
    from rubric_ci.reports import terminal

    width = max(NARROWEST, min(WIDEST, shutil.get_terminal_size((100, 24)).columns))
    files = [str(path) for path in written]
    color = use_color(sys.stdout, os.environ)
    detail: terminal.Detail = (
        "verdict" if options.quiet else "full" if options.verbose else "failures"
    )
    text = terminal.render(report, width=width, color=color, files=files, detail=detail)
    if workflow := Workflow.of(os.environ):
        text = workflow.guarded(text)
    click.echo(text, color=color)  # else click removes colours without a terminal
