"""Several targets side by side: the words of a cell and a heading, and the table in Markdown."""

from collections.abc import Iterator

from rubric_ci.model.report import RunReport
from rubric_ci.model.results import CaseResult, Graded
from rubric_ci.render import wording
from rubric_ci.render.heading import difference_text
from rubric_ci.render.markdown_case import ICONS
from rubric_ci.report.matrix import Matrix, matrix
from rubric_ci.text import escape, numbers


def cell(case: CaseResult | None) -> str:
    """Return the verdict, the score and the trials of a case."""
    if case is None:
        return "-"
    if not isinstance(case, Graded):
        return wording.status(case)
    shown = f"{wording.status(case)} {numbers.score(case.score)}"
    return ", ".join(filter(None, (shown, wording.trials(case))))


def heads(found: Matrix, report: RunReport) -> list[str]:
    """Return a heading per target: its name, its passes, and whether the gate is about it."""
    return [_head(name, *found.passed(n), report) for n, name in enumerate(found.targets)]


def _head(name: str, passed: int, graded: int, report: RunReport) -> str:
    only = report.gate.targets
    left_out = " (not in the gate)" if only and name not in only else ""
    return f"{name}: {passed:,} of {graded:,} pass{left_out}"


def section(report: RunReport, most: int) -> Iterator[str]:
    """Yield the table in Markdown, with at most so many rows; nothing for one target."""
    if not (found := matrix(report)):
        return
    titles = ["Case", *heads(found, report)]
    rows = [
        [numbers.shortened(row.id, 120), *map(_with_icon, row.cells)] for row in found.rows[:most]
    ]
    lines = [_line(titles), _line(["---"] * len(titles), rule=True), *map(_line, rows)]
    yield "\n".join(lines)
    if more := len(found.rows) - len(rows):
        yield f"{numbers.plural(more, 'more case')}."
    for line in differences(report):
        yield escape.markdown(line)


def differences(report: RunReport) -> list[str]:
    """Return the line on the difference of two targets, if cases have both."""
    found = report.gate.difference
    return [difference_text(found)] if found else []


def _with_icon(case: CaseResult | None) -> str:
    return f"{ICONS[wording.status(case)]} {cell(case)}" if case else "-"


def _line(cells: list[str], *, rule: bool = False) -> str:
    return f"| {' | '.join(cells if rule else map(escape.markdown, cells))} |"
