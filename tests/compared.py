"""Comparisons for tests: a run with an earlier report, and what each case and the whole show."""

from rubric_ci.gate.comparison import phrases
from rubric_ci.gate.comparison.compared import compare
from rubric_ci.gate.comparison.reference import Baseline, ReferenceLog
from rubric_ci.values.comparison import Comparison
from rubric_ci.values.report import RunReport


def compared(now: RunReport, then: RunReport, *, log: ReferenceLog | None = None) -> RunReport:
    """Return the run compared with a report, or with a pinned reference if there is a log."""
    return compare(now, Baseline(report=then, log=log))


def whole(report: RunReport) -> Comparison:
    """Return the comparison of a report that has one."""
    assert report.comparison is not None
    return report.comparison


def against(now: RunReport, then: RunReport, *, log: ReferenceLog | None = None) -> Comparison:
    """Return what a comparison shows of the run as a whole."""
    return whole(compared(now, then, log=log))


def kinds(report: RunReport) -> list[str]:
    """Return kind and id of every case, in the order of every list."""
    named = {kind: [case.id for case in cases] for kind, cases in phrases.kinds(report).items()}
    named["removed"] = [case.id for case in report.removed]
    return [f"{kind} {name}" for kind, names in named.items() for name in names]
