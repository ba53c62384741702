"""`rubric-ci merge`: the reports of shards become one, written and told like that of a run."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from rubric_ci.errors import CannotReadReport, ExitCode
from rubric_ci.model.config import FailOn
from rubric_ci.model.options import RunSettings
from rubric_ci.model.report import RunReport, gate_holds
from rubric_ci.project.discovery import read_text
from rubric_ci.reports import json_format, publish
from rubric_ci.reports.files import open_baseline, with_baseline, write_and_show
from rubric_ci.reports.formats import FILES
from rubric_ci.reports.sharding import merge


def merge_reports(paths: Sequence[Path], settings: RunSettings) -> ExitCode:
    """Read, merge, write, show; `settings` says where to and in which formats."""
    shards = [json_format.read(read_text(path), path.as_posix()) for path in _files(paths)]
    report = merge(shards, settings.fail_on)
    report = with_baseline(report, open_baseline(settings), settings)
    written = write_and_show(report, settings)
    publish.publish(report, written, settings, os.environ)
    return _exit_code(report)


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    """Yield report files; of a folder, each `report.json` below it."""
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        found = sorted(path.rglob(FILES["json"]))
        if not found:
            raise CannotReadReport(
                f"{path.as_posix()}: holds no {FILES['json']}", "name the reports of the shards"
            )
        yield from found


def _exit_code(report: RunReport) -> ExitCode:
    if not gate_holds(report.cases, FailOn(report.gate.fail_on)):
        return ExitCode.GATE
    whole = report.verdict != "error" and not (report.totals.errored or report.interrupted)
    return ExitCode.OK if whole else ExitCode.NO_VERDICT
