"""The folder of a pinned reference: reports whose trials are pooled, and the log.

A run adds what the reference lacks: all its trials at first, later the trials of new cases. Beyond
that only a decision changes the trials.
"""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

from rubric_ci.errors import CannotReadReport
from rubric_ci.files.project.working_tree import write_text
from rubric_ci.gate.comparison.baseline_files import (
    LOG_FILE,
    find_reports,
    read_baseline,
    write_log,
)
from rubric_ci.gate.comparison.compared import compare
from rubric_ci.gate.comparison.reference import (
    Baseline,
    Decision,
    ReferenceLog,
    comparable,
    lacking,
    night_of,
    part,
)
from rubric_ci.gate.comparison.rule import KEPT
from rubric_ci.gate.report import json_format
from rubric_ci.gate.report.report_file import check_measured, read_report
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.formats_and_defaults import REPORT_FILES
from rubric_ci.values.report import RunReport, Sentinel
from rubric_ci.values.results import Graded

FIRST = "first run"
"""The reason of a reference that no one decided on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptance:
    """The results that become the reference, and why."""

    reason: str
    cases: tuple[str, ...] = ()  # globs over case ids; empty: all
    decided_at: str  # RFC 3339, UTC

    def moves(self, case: Graded) -> bool:
        """Return True if the results of this case become the reference."""
        return not self.cases or any(fnmatchcase(case.id, glob) for glob in self.cases)


def open_folder(folder: Path) -> Baseline | None:
    """Return the reference of a folder; None if it does not exist or has no reports yet."""
    if not folder.exists():
        return None
    if not folder.is_dir():
        raise CannotReadReport(f"{folder.as_posix()}: not a folder", "pass a folder of reports")
    return read_baseline(folder) if any(folder.rglob(REPORT_FILES["json"])) else None


def keep(head: RunReport, folder: Path) -> Iterator[str]:
    """Add a run to the log, and to the trials where they lack; yield what was done.

    Raises CannotReadReport for a part of a run.
    """
    check_measured(head)
    present = open_folder(folder)
    moved = head.sentinel is not None and head.sentinel.moved
    fits = present is None or (comparable(head, present.report) and not moved)
    reference = present.report if present else None
    known = _path(head, folder).exists()
    added = lacking(head, reference, KEPT) if fits and not known else None
    if present is None and added is None:
        yield "no baseline yet: no case of this run was graded"
        return
    log = present.log if present else None
    compared = compare(head, present) if present else replace(head, comparison=None)
    night = night_of(compared)
    if added and (found := compared.comparison):
        worse = found.worse_cases
        added = None if found.fell else part(added, lambda case: case.key not in worse)
    if added:
        _write(added, folder)
        yield f"{len(added.cases):,} of {len(head.cases):,} cases: added trials to the baseline"
    elif present and fits and head.sentinel and not present.report.sentinel:
        path = next(find_reports([folder]))
        _write_to(path, replace(read_report(path), sentinel=head.sentinel))
    if not fits:
        yield "no trials were added: the baseline has another judge or other thresholds"
    log = (log or _first_log(head, present)).with_night(night)
    write_log(folder, log)
    yield f"night {len(log.nights):,} in {(folder / LOG_FILE).as_posix()}"


def accept(head: RunReport, folder: Path, acceptance: Acceptance) -> RunReport | None:
    """Make the results of a run the reference; return the run compared with the one before.

    Cases that the run did not grade, or that `acceptance` does not name, keep their reference.
    """
    check_measured(head)
    present = open_folder(folder)
    moved = part(head, acceptance.moves)
    if moved is None:
        raise CannotReadReport(
            "no case to accept: the report has no graded case that --case matches",
            "check --case, or pass the report of a complete run",
        )
    compared = compare(head, present) if present else None
    keys = {case.key for case in moved.cases}
    kept = _others(folder, keys, head) if present else []
    if kept and not all(comparable(head, each) for each in kept):
        raise CannotReadReport(
            "the judge or the thresholds of the baseline differ, and other cases would keep it",
            "accept all cases",
        )
    _replace(folder, [*kept, replace(moved, sentinel=_sentinel_of_judge(head, present))])
    decision = _decision(head, acceptance.reason, acceptance.decided_at, moved)
    decision = replace(decision, partial=bool(kept))
    log = present.log if present else None
    write_log(folder, log.with_decision(decision) if log else ReferenceLog(decisions=(decision,)))
    return compared


def _sentinel_of_judge(head: RunReport, present: Baseline | None) -> Sentinel | None:
    """Return the marks to ask for again; None: they are of an earlier judge."""
    found = head.sentinel
    if present and present.report.sentinel and not comparable(head, present.report):
        return None
    return found if found and not found.moved else None


def _first_log(head: RunReport, present: Baseline | None) -> ReferenceLog:
    """Return the log of a reference without one: of this run, or of the reports that are there."""
    measured = present.report if present else head
    return ReferenceLog(decisions=(_decision(measured, FIRST, head.started_at, measured),))


def _decision(measured: RunReport, reason: str, decided_at: str, moved: RunReport) -> Decision:
    return Decision(
        reason=reason,
        commit=measured.metadata.get("head_sha", ""),
        measured_at=measured.started_at,
        decided_at=decided_at,
        cases=len(moved.cases),
    )


def _others(folder: Path, moved: set[tuple[str, str]], head: RunReport) -> list[RunReport]:
    """Return the reports of the folder without the moved and the removed cases."""
    present = {case.key for case in head.cases} - moved
    reports = (read_report(path) for path in find_reports([folder]))
    parts = (part(each, lambda case: case.key in present) for each in reports)
    return [each for each in parts if each]


def _replace(folder: Path, reports: list[RunReport]) -> None:
    """Replace the reports of the folder; the new ones are written before the old are removed."""
    old = list(find_reports([folder])) if folder.exists() and any(folder.iterdir()) else []
    new = [_write(each, folder, n) for n, each in enumerate(reports)]
    for path in old:
        if path not in new:
            shutil.rmtree(path.parent) if path.parent != folder else path.unlink()


def _path(report: RunReport, folder: Path, number: int = 0) -> Path:
    """Return where a report is kept; the parts that an acceptance makes of reports have numbers."""
    name = report.started_at.replace(":", "-") + (f"-{number}" if number else "")
    return folder / name / REPORT_FILES["json"]


def _write(report: RunReport, folder: Path, number: int = 0) -> Path:
    path = _path(report, folder, number)
    _write_to(path, report)
    return path


def _write_to(path: Path, report: RunReport) -> None:
    write_text(path, json_format.render(report), "the report", "check --baseline")
