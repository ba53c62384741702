"""What a report of a part of the suite is not used for."""

from rubric_ci.errors import CannotReadReport
from rubric_ci.model.report import RunReport


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
