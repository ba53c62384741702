"""Whether a drop of the size that the sentence on power names is found as often as it says.

A change affects a random part of the cases, each of which loses `LOSS` of a point. The sentence
is given the true variance of a trial. The comparison with the report of another run is rubric-ci's.
"""

import argparse
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from random import Random
from statistics import fmean

from mean import report
from simulate import _case, _normal, _trial

from rubric_ci.comparison.compare import compare
from rubric_ci.comparison.reference import Baseline
from rubric_ci.model.results import Graded
from rubric_ci.statistics.power import LOSS, POWER, Design, Variances, smallest_drop

NEAR = 0.05  # by which the share of drops found may differ from what the sentence says
ERRORS = 2  # standard errors of a simulated share
LEVEL = 0.75  # of every case before the change
DEVIATION = 0.1  # of the score of a trial


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One row of the table."""

    cases: int
    marks: str  # scores | verdicts
    trials: int
    runs: int

    @property
    def drop(self) -> float:
        """The drop that the sentence names."""
        variance = DEVIATION**2 if self.marks == "scores" else LEVEL * (1 - LEVEL)
        drop = smallest_drop(
            Design(
                cases=self.cases,
                clusters=self.cases,
                trials=self.trials,
                reference_trials=self.trials,
            ),
            Variances(target=variance, judge=0),
        )
        assert drop is not None
        return drop


def found(cell: Cell) -> float:
    return fmean(_one_run(cell, Random(f"{seed} {cell}")) for seed in range(cell.runs))


def _one_run(cell: Cell, random: Random) -> bool:
    affected = [random.random() < cell.drop / LOSS for _ in range(cell.cases)]
    before = [_graded(cell, n, LEVEL, random) for n in range(cell.cases)]
    after = [_graded(cell, n, LEVEL - LOSS * hit, random) for n, hit in enumerate(affected)]
    compared = compare(report(after), Baseline(report=report(before))).comparison
    assert compared is not None
    assert compared.mean_difference is not None
    return compared.significant and compared.mean_difference < 0


def _graded(cell: Cell, number: int, level: float, random: Random) -> Graded:
    if cell.marks == "verdicts":
        passed = [random.random() < level for _ in range(cell.trials)]
        return _case(number, [_trial(float(each), gated=not each) for each in passed])
    scores = [level + DEVIATION * _normal(random.random) for _ in range(cell.trials)]
    return _case(number, [_trial(min(1.0, max(0.0, each)), gated=False) for each in scores])


def grid(arguments: argparse.Namespace) -> Iterator[Cell]:
    for cases, marks, trials in product(arguments.cases, ("scores", "verdicts"), range(1, 6)):
        yield Cell(cases=cases, marks=marks, trials=trials, runs=arguments.runs)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, nargs="+", default=[24, 100, 200])
    parser.add_argument("--runs", type=int, default=400, help="per cell")
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    cells = list(grid(arguments))
    with ProcessPoolExecutor(arguments.processes) as pool:
        shares = list(pool.map(found, cells))
    print("| cases, marks, trials | drop | found | |")
    print("|:--|--:|--:|:--|")
    wrong = 0
    for cell, share in zip(cells, shares, strict=True):
        error = (POWER * (1 - POWER) / cell.runs) ** 0.5
        far = abs(share - POWER) > NEAR + ERRORS * error
        wrong += far
        why = "differs" if far else ""
        print(
            f"| {cell.cases}, {cell.marks}, {cell.trials} | {cell.drop:.3f} | {share:.2f} | {why} |"
        )
    print(f"Cells that differ: {wrong}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
