"""The figures of the last run, from which the next one is estimated."""

from pathlib import Path
from typing import TypeAlias

from rubric_ci.errors import UserError
from rubric_ci.gate.report.report_file import read_report
from rubric_ci.model.report import RunReport
from rubric_ci.model.used_by import Role, UsedBy

LastRun: TypeAlias = dict[tuple[Role, str, str], UsedBy]
"""By role, name and model; empty: no run is known."""


def last_run(report: Path, baseline: RunReport | None) -> LastRun:
    """Return the figures of the last report, and of the baseline for what that one lacks."""
    found: LastRun = {}
    for each in (*(baseline.used_by if baseline else ()), *_used_by(report)):
        found[each.role, each.name, each.model] = each
    return found


def _used_by(report: Path) -> tuple[UsedBy, ...]:
    """Return the figures of a report; none of one that is not there or cannot be read."""
    try:
        return read_report(report).used_by if report.exists() else ()
    except UserError:
        return ()
