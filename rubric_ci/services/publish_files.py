"""Write the report files with copies of images and documents, and print the report."""

import os
import shutil
import sys
import tempfile
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path

import click

from rubric_ci.errors import CannotReadFile, CannotWriteFile
from rubric_ci.files.project import working_tree
from rubric_ci.models.llm.media import content
from rubric_ci.reports import formats
from rubric_ci.services.publish_workflow import Workflow
from rubric_ci.system import file_io
from rubric_ci.system.output_and_masking import use_color
from rubric_ci.values.command_settings import ReportOptions
from rubric_ci.values.formats_and_defaults import REPORT_FILES, ReportFormat
from rubric_ci.values.media import (
    COPIES,
    INLINED,
    Media,
    Picture,
    ReadCopy,
    answer_pictures,
    media_of,
)
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


def write_copies(pictures: Mapping[str, Media], folder: Path, hint: str) -> None:
    """Write a copy of each image and document, for the page and for people who get the folder."""
    for name, media in pictures.items():
        path = folder / COPIES / name
        if path.exists():
            continue
        try:
            data = content(media)
        except CannotReadFile:  # of a replay, which has the digest only
            continue
        _write(path, data, media.path, hint)


def copies_in(*folders: Path) -> ReadCopy:
    """Return a reader of pictures, which takes the first of the folders that has a copy."""

    def read(picture: Picture) -> bytes:
        for folder in folders:
            try:
                data = file_io.read_own(folder / picture.file, shown=picture.path)
            except CannotReadFile:
                continue
            if sha256(data).hexdigest() == picture.digest:
                return data
        return no_copy(picture)

    return read


def no_copy(picture: Picture) -> bytes:
    """Raise CannotReadFile: there is no copy of a picture to show again."""
    reason = f"there is no copy `{picture.file}` next to the report or the labels"
    raise CannotReadFile(f"{picture.path} cannot be shown again: {reason}", reason=reason)


def shown_again(pictures: Iterable[Picture], read: ReadCopy) -> tuple[Media, ...]:
    """Return the pictures of an answer with their copies; one without fails when it is shown."""
    return tuple(_media(each, partial(read, each)) for each in answer_pictures(pictures))


def _media(picture: Picture, again: Callable[[], bytes]) -> Media:
    lost = Media(path=picture.path, type=picture.type, digest=picture.digest, size=0, read=again)
    try:
        return media_of(picture.path, again(), again) or lost
    except CannotReadFile:
        return lost


def keep_copies(pictures: Iterable[Picture], read: ReadCopy, folder: Path, hint: str) -> None:
    """Write the pictures that can be read into another folder of copies; raises CannotWriteFile."""
    for each in dict.fromkeys(pictures):
        try:
            data = read(each)
        except CannotReadFile:
            continue
        if not (folder / each.file).exists():
            _write(folder / each.file, data, each.path, hint)


def _write(path: Path, data: bytes, name: str, hint: str) -> None:
    with file_io.writing(path, f"a copy of {name}", hint):
        working_tree.check_place(path.parent)
        file_io.write(path, data)
