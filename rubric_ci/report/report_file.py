"""Read a report file; imports nothing that compares or renders reports."""

from pathlib import Path

from rubric_ci.model.report import RunReport
from rubric_ci.project import discovery
from rubric_ci.report import json_format


def read_report(path: Path) -> RunReport:
    """Return the report of a file; raises CannotReadReport."""
    return json_format.read(discovery.read_text(path, written_by=_writer(path)), path.as_posix())


def _writer(path: Path) -> str:
    """Return the command that writes a report, or the folder of a reference."""
    return "rubric-ci run" if path.suffix else "rubric-ci baseline keep"
