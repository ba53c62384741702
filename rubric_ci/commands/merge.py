"""`rubric-ci merge`: the reports of shards become one, written and told like that of a run."""

import os
from collections.abc import Sequence
from pathlib import Path

from rubric_ci.errors import ExitCode
from rubric_ci.model.config import FailOn
from rubric_ci.model.options import RunSettings
from rubric_ci.model.report import RunReport, gate_holds
from rubric_ci.reports import publish
from rubric_ci.reports.files import (
    find_reports,
    open_baseline,
    read_report,
    with_baseline,
    write_and_show,
)
from rubric_ci.reports.sharding import merge


def merge_reports(paths: Sequence[Path], settings: RunSettings) -> ExitCode:
    """Read, merge, write, show; `settings` says where to and in which formats."""
    shards = [read_report(path) for path in find_reports(paths)]
    report = merge(shards, settings.fail_on)
    report = with_baseline(report, open_baseline(settings), settings)
    written = write_and_show(report, settings)
    publish.publish(report, written, settings, os.environ)
    return _exit_code(report)


def _exit_code(report: RunReport) -> ExitCode:
    if not gate_holds(report.cases, FailOn(report.gate.fail_on)):
        return ExitCode.GATE
    whole = report.verdict != "error" and not (report.totals.errored or report.interrupted)
    return ExitCode.OK if whole else ExitCode.NO_VERDICT
