"""Several targets side by side, as the values that `templates/grid.html` shows."""

from typing import Final

from rubric_ci.gate.report.matrix import Row, matrix
from rubric_ci.parts.formats.case_view import Badge
from rubric_ci.parts.formats.work_view import Piece
from rubric_ci.reports import comparison_section, per_target
from rubric_ci.reports.html_templates import case_anchor
from rubric_ci.text import numbers
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.report import RunReport
from rubric_ci.values.results import CaseResult

MOST_ROWS: Final = 200
UNFOLDED: Final = 20  # rows that are visible at once
LONGEST: Final = 600  # characters of a question or an answer


@dataclass(frozen=True, slots=True, kw_only=True)
class CellView:
    """The result of a case for a target; words that the first target does not say are marked."""

    target: str
    anchor: str = ""  # of the case on the page; empty: this target was not asked
    verdict: Badge
    answer: tuple[Piece, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RowView:
    """A case."""

    name: str
    question: str
    differs: bool
    cells: tuple[CellView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A row per case and a column per target."""

    title: str
    columns: tuple[per_target.Column, ...]
    rows: tuple[RowView, ...]
    folded: tuple[RowView, ...]
    folded_title: str
    cut: str


def target_grid(report: RunReport) -> Grid | None:
    """Return the cases that several targets answered; None: there is one target."""
    found = matrix(report.cases)
    if found is None:
        return None
    rows = per_target.rows(found)
    shown = [_row(row, found.targets) for row in rows[:MOST_ROWS]]
    more = len(rows) - len(shown)
    folded = shown[UNFOLDED:]
    return Grid(
        title=per_target.title(found, report),
        columns=tuple(per_target.columns(found, report)),
        rows=tuple(shown[:UNFOLDED]),
        folded=tuple(folded),
        folded_title=numbers.plural(len(folded), "more case"),
        cut=f"{numbers.plural(more, 'further case')} below." if more else "",
    )


def _row(row: Row, names: tuple[str, ...]) -> RowView:
    first = _answer(row.cells[0])
    return RowView(
        name=per_target.name(row),
        question=numbers.shortened(row.question, LONGEST),
        differs=per_target.differs(row),
        cells=tuple(
            _cell(case, name, first if number else "")
            for number, (case, name) in enumerate(zip(row.cells, names, strict=True))
        ),
    )


def _cell(case: CaseResult | None, name: str, first: str) -> CellView:
    if case is None:
        return CellView(target=name, verdict=Badge(tone="skipped", word="not asked"))
    return CellView(
        target=name,
        anchor=case_anchor(case.file, case.id),
        verdict=Badge(tone=case.status, word=per_target.cell(case)),
        answer=_pieces(_answer(case), first),
    )


def _answer(case: CaseResult | None) -> str:
    return numbers.shortened(case.answer if case else "", LONGEST)


def _pieces(answer: str, first: str) -> tuple[Piece, ...]:
    """Return an answer, with the words marked that the first one does not have.

    Answers that have less than half of their words in common are not compared: all would be marked.
    """
    runs = [*comparison_section.word_runs(first, answer)] if first and answer != first else []
    same = sum(len(words.split()) for kind, words in runs if kind == "same")
    if 2 * same < max(len(first.split()), len(answer.split())) or not same:
        return (("", answer),) if answer else ()
    kinds = {"same": "", "added": "mark"}
    return tuple((kinds[kind], words) for kind, words in runs if kind in kinds)
