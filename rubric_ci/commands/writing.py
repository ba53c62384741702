"""Write a report where people and machines look: files, terminal, annotations."""

import os
import secrets
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from rubric_ci.errors import CannotWriteFile
from rubric_ci.files import write_text
from rubric_ci.model.report import RunReport
from rubric_ci.model.settings import RunSettings
from rubric_ci.render import formats, workflow

NARROWEST, WIDEST = 60, 140  # columns of the table where the terminal does not say or is vast


def write_reports(report: RunReport, settings: RunSettings) -> tuple[Path, ...]:
    """Write each wanted format; a file is whole or is not there."""
    written = []
    for name in settings.reports:
        path = settings.output_dir / formats.FILES[name]
        try:
            write_text(path, formats.render(name, report))
        except OSError as error:
            raise CannotWriteFile(
                f"{path}: cannot write the report: {error.strerror}",
                "choose another folder with --output-dir",
            ) from error
        written.append(path)
    return tuple(written)


def show_report(report: RunReport, written: Sequence[Path], settings: RunSettings) -> None:
    """Print the verdict table, the reasons and where the files are."""
    from rubric_ci.render import terminal

    width = max(NARROWEST, min(WIDEST, shutil.get_terminal_size((100, 24)).columns))
    files = [str(path) for path in written]
    text = terminal.render(report, width=width, color=_wants_color(settings), files=files)
    # What a model said is in this text; it must not speak to the runner.
    click.echo(workflow.uncommanded(text, secrets.token_hex(16)) if _on_github() else text)


def show_annotations(report: RunReport, settings: RunSettings) -> None:
    """Print workflow commands where GitHub reads them or where they were asked for."""
    wanted = _on_github() if settings.annotations is None else settings.annotations
    if wanted:
        from rubric_ci.render import annotations

        click.echo(annotations.render(report), nl=False)


def _wants_color(settings: RunSettings) -> bool:
    if settings.color == "auto":
        return sys.stdout.isatty() and "NO_COLOR" not in os.environ
    return settings.color == "always"


def _on_github() -> bool:
    return os.environ.get("GITHUB_ACTIONS") == "true"
