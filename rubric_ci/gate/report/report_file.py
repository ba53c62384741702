"""Read a report file, or refuse it as a part of the suite; imports nothing that compares."""

from pathlib import Path

from rubric_ci.errors import CannotReadReport
from rubric_ci.files.project import discovery
from rubric_ci.gate.report import json_format
from rubric_ci.model.report import RunReport


def read_report(path: Path) -> RunReport:
    """Return the report of a file; raises CannotReadReport."""
    return json_format.read(discovery.read_text(path, written_by=_writer(path)), path.as_posix())


def _writer(path: Path) -> str:
    """Return the command that writes a report, or the folder of a reference."""
    return "rubric-ci run" if path.suffix else "rubric-ci baseline keep"


def check_whole(report: RunReport) -> None:
    """Raise CannotReadReport, with the reason, unless a report covers the whole suite."""
    if not report.scope.complete:
        raise CannotReadReport(f"this report covers {report.covers}", _hint(report))


def check_measured(report: RunReport) -> None:
    """Raise CannotReadReport unless models marked the whole suite in this run."""
    check_whole(report)
    if report.scope.replayed:
        raise CannotReadReport(
            "this report is of a replayed run: its marks are recorded, not measured",
            "run the whole suite without --replay",
        )


def _hint(report: RunReport) -> str:
    names = report.scope.narrowed_by
    if report.shard:
        return "combine the shards with `rubric-ci report merge` first"
    if "paths" in names:
        return "run the whole suite first: without paths; `evals` in rubric-ci.yaml names it"
    if "invalid" in names:
        return "fix the eval files that `rubric-ci validate` reports, then run the whole suite"
    return "run the whole suite first"
