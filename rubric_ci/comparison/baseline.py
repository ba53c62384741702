"""Read what a run is compared with: a report, or the folder of a pinned reference."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rubric_ci.comparison.compare import compare
from rubric_ci.comparison.pooling import pool
from rubric_ci.comparison.reference import Baseline
from rubric_ci.comparison.reference_log_file import read_log
from rubric_ci.errors import CannotReadReport, CannotUseGit
from rubric_ci.git.committed import first_tracked
from rubric_ci.model.defaults import REPORT_FILES
from rubric_ci.model.options import RunSettings
from rubric_ci.model.report import RunReport
from rubric_ci.report.report_file import read_report
from rubric_ci.system.runner import in_workflow


def open_baseline(settings: RunSettings) -> Baseline | None:
    """Read the baseline of the command line; None if there is none or the file does not exist."""
    if settings.baseline is None or not settings.baseline.exists():
        return None
    return read_baseline(settings.baseline)


def with_baseline(
    report: RunReport,
    baseline: Baseline | None,
    settings: RunSettings,
    environment: Mapping[str, str],
) -> RunReport:
    """Add the comparison with the baseline, if one was requested.

    The first run of a scheduled workflow has no baseline: a note, not an error. With a base there
    is a comparison, and no note.
    """
    compared = report.against is not None and bool(report.against.commit)
    if settings.baseline is None or (baseline is None and compared):
        return report
    if baseline is None:
        note = f"No comparison: the baseline {settings.baseline.as_posix()} does not exist."
        return replace(report, notes=(*report.notes, note))
    comparison = compare(
        report,
        baseline.report,
        log=baseline.log,
    )
    notes = (*report.notes, *_of_a_commit(settings.baseline, environment))
    return replace(report, comparison=comparison, notes=notes)


def _of_a_commit(path: Path, environment: Mapping[str, str]) -> Iterator[str]:
    """Yield a note in a workflow if the baseline may have come with the change that is graded."""
    if not in_workflow(environment):
        return
    try:
        tracked = first_tracked(path, environment)
    except CannotUseGit as error:
        yield f"Whether git tracks the baseline {path.as_posix()} is not known: {error.message}"
        return
    if tracked:
        yield (
            f"The baseline {path.as_posix()} is tracked by git ({tracked}): a change can bring its "
            "own; keep it out of the repository, in a cache or an artifact of the default branch"
        )


def read_baseline(path: Path) -> Baseline:
    """Return the report of a file, or the pooled reports of a folder; raises CannotReadReport."""
    if not path.is_dir():
        return Baseline(report=read_report(path))
    found = find_reports([path], "create the reports with `rubric-ci run`")
    return Baseline(report=pool([read_report(each) for each in found]), log=read_log(path))


def find_reports(
    paths: Sequence[Path], hint: str = "pass the reports of the shards"
) -> Iterator[Path]:
    """Yield report files; for a folder, each `report.json` below it."""
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        found = sorted(path.rglob(REPORT_FILES["json"]))
        if not found:
            raise CannotReadReport(
                f"{path.as_posix()}: no {REPORT_FILES['json']} found",
                hint,
            )
        yield from found
