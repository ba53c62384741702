"""Several targets side by side: a row per case, a column per target."""

from collections.abc import Sequence
from dataclasses import dataclass

from rubric_ci.model.report import RunReport
from rubric_ci.model.results import CaseResult, Graded, standing


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One case, and its result for each target; None: it was not answered by that one."""

    file: str
    id: str  # as the eval file has it
    question: str
    cells: tuple[CaseResult | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """The results of several targets."""

    targets: tuple[str, ...]
    rows: tuple[Row, ...]

    def passed(self, index: int) -> tuple[int, int]:
        """Return how many graded cases of a target pass, and how many are graded."""
        graded = [cell for row in self.rows if isinstance(cell := row.cells[index], Graded)]
        return sum(standing(case) == "pass" for case in graded), len(graded)


def matrix(report: RunReport) -> Matrix | None:
    """Return the cases that several targets answered; None: there are none."""
    found = [(case, name) for case in report.cases if (name := _target(case))]
    targets = tuple(dict.fromkeys(name for _, name in found))
    if len(targets) < 2:
        return None
    cells: dict[tuple[str, str], dict[str, CaseResult]] = {}
    for case, name in found:
        cells.setdefault((case.file, case.id.removesuffix(f" [{name}]")), {})[name] = case
    rows = tuple(_row(key, by_target, targets) for key, by_target in cells.items())
    return Matrix(targets=targets, rows=rows)


def _row(key: tuple[str, str], cells: dict[str, CaseResult], targets: Sequence[str]) -> Row:
    question = next(iter(cells.values())).question
    return Row(file=key[0], id=key[1], question=question, cells=tuple(map(cells.get, targets)))


def _target(case: CaseResult) -> str:
    """Return the target that is part of the id of a case, or ""."""
    name = getattr(case, "target", "") or case.id.rpartition(" [")[2].removesuffix("]")
    return name if name and case.id.endswith(f" [{name}]") else ""
