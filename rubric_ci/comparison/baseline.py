"""Read the report, or the folder of a pinned reference, that a run is compared with."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rubric_ci.comparison import verdicts
from rubric_ci.comparison.compare import compare
from rubric_ci.comparison.pooling import pool
from rubric_ci.comparison.reference import Baseline
from rubric_ci.comparison.reference_log_file import read_log
from rubric_ci.errors import CannotReadReport, CannotUseGit
from rubric_ci.git.committed import first_tracked
from rubric_ci.model.defaults import REPORT_FILES
from rubric_ci.model.options import RunSettings
from rubric_ci.model.report import RunReport
from rubric_ci.report.gate import with_gate
from rubric_ci.report.report_file import read_report
from rubric_ci.system.runner import in_workflow


def open_baseline(settings: RunSettings) -> Baseline | None:
    """Read the baseline of the command line; None if there is none or the file does not exist.

    A run that is given a commit is compared with the commit: the baseline is not read.
    """
    if settings.baseline is None or settings.against or not settings.baseline.exists():
        return None
    return read_baseline(settings.baseline)


def with_comparison(
    report: RunReport,
    baseline: Baseline | None,
    settings: RunSettings,
    environment: Mapping[str, str],
) -> RunReport:
    """Add the comparison that was asked for, and decide the gate with it."""
    if report.against:
        compared = replace(report, comparison=verdicts.of_commit(report.against, report.cases))
    elif baseline:
        compared = compare(report, baseline)
    else:
        compared = report
    notes = (*report.notes, *_notes(compared, baseline, settings, environment))
    return with_gate(replace(compared, notes=notes))


def _notes(
    report: RunReport,
    baseline: Baseline | None,
    settings: RunSettings,
    environment: Mapping[str, str],
) -> Iterator[str]:
    """Yield why the run is not compared with something that was named, and what to know of it.

    The first run of a scheduled workflow has no baseline: a note, not an error.
    """
    path = settings.baseline
    if path and report.against:
        found = "Compared with the commit of" if report.against.commit else "No base was found for"
        yield (
            f"{found} `--against`: the baseline {path.as_posix()} was not read, as a run is "
            "compared with one of them."
        )
    elif path and baseline is None:
        yield f"No comparison: the baseline {path.as_posix()} does not exist."
    elif path:
        yield from _of_a_commit(path, environment)
    uncompared = bool(report.cases) and all(case.change is None for case in report.cases)
    if report.gate.fail_on == "regression" and uncompared:
        yield (
            "fail-on is regression and there is no comparison, so every case that fails counts: "
            "set `--against` or `--baseline`"
        )


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
        return Baseline(report=read_report(path), ref=path.as_posix())
    found = find_reports([path], "create the reports with `rubric-ci run`")
    pooled = pool([read_report(each) for each in found])
    return Baseline(report=pooled, log=read_log(path), ref=path.as_posix())


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
