"""Several targets side by side: a row per case, a column per target."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import fsum
from statistics import fmean
from typing import Final

from rubric_ci.text.p_values_and_intervals import SIGNIFICANT, bound_of_mean, p_value
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.gate import TargetDifference
from rubric_ci.values.results import TEMPLATE, CaseResult, both_graded, own_id, with_verdict
from rubric_ci.values.scoring import DECIMALS
from rubric_ci.values.trials import first_mean

FEW: Final = 24
"""Independent cases, with fewer of which a difference must hold without symmetry as well: sign
flips test it, and skewed differences with a mean of 0 would often pass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One case, and its result for each target; None: it was not answered by that one."""

    file: str
    id: str  # as the eval file has it
    question: str
    cells: tuple[CaseResult | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    targets: tuple[str, ...]
    rows: tuple[Row, ...]

    def passed(self, index: int) -> tuple[int, int]:
        """Return how many graded cases of a target pass, and how many are graded."""
        graded = with_verdict(row.cells[index] for row in self.rows)
        return sum(case.status == "pass" for case in graded), len(graded)


def difference(
    cases: Sequence[CaseResult], than: str = "", *, whole: bool = True
) -> TargetDifference | None:
    """Return how much better the first target is than one of the others, the last by default.

    Of a `whole` suite a difference is possible, however few cases it has.
    """
    found = matrix(cases)
    if found is None or (than and than not in found.targets):
        return None
    than = than or found.targets[-1]
    target = next((name for name in found.targets if name != than), than)
    clusters: dict[object, list[float]] = defaultdict(list)
    here, there = found.targets.index(target), found.targets.index(than)
    for one, other in both_graded((row.cells[here], row.cells[there]) for row in found.rows):
        # A suite is often the rows of one template: as one cluster they could not be compared.
        own = "" if one.cluster.startswith(TEMPLATE) else one.cluster
        clusters[own or one.key].append(round(first_mean(one) - first_mean(other), DECIMALS))
    if not clusters:
        return None
    p = p_value([fsum(each) for each in clusters.values()])
    means = [fmean(each) for each in clusters.values()]
    holds = len(means) >= FEW or bound_of_mean(means) < SIGNIFICANT
    every = [each for cluster in clusters.values() for each in cluster]
    return TargetDifference(
        target=target,
        than=than,
        cases=len(every),
        mean=round(fmean(every), DECIMALS),
        p_value=p,
        significant=p < SIGNIFICANT and holds,
        possible=whole or p_value([1.0] * len(clusters)) < SIGNIFICANT,
    )


def matrix(cases: Iterable[CaseResult]) -> Matrix | None:
    """Return the cases that several targets answered; None: there are none."""
    found = [(case, name) for case in cases if (name := _target(case))]
    targets = tuple(dict.fromkeys(name for _, name in found))
    if len(targets) < 2:
        return None
    cells: dict[tuple[str, str], dict[str, CaseResult]] = {}
    for case, name in found:
        cells.setdefault((case.file, own_id(case.id, name)), {})[name] = case
    rows = tuple(
        Row(
            file=file,
            id=own,
            question=next(iter(by_target.values())).question,
            cells=tuple(map(by_target.get, targets)),
        )
        for (file, own), by_target in cells.items()
    )
    return Matrix(targets=targets, rows=rows)


def _target(case: CaseResult) -> str:
    """Return the target that is part of the id of a case, or ""."""
    name = case.target or case.id.rpartition(" [")[2].removesuffix("]")
    return name if name and own_id(case.id, name) != case.id else ""
