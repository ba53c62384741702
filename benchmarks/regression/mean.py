"""Whether the mean score shows a drop, and whether its interval covers the true difference.

Every case of a suite has its own chance of a good answer (`beta`: most pass nearly always, some
nearly never) or its own level (`marks`). Suspects get further trials, and only cases with low
scores are suspects: a mean over all trials would rise with them. The comparison is rubric-ci's.
"""

import argparse
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import product
from random import Random
from statistics import fmean

from simulate import CONFIG, _case, _normal, _trial

from rubric_ci.gate.comparison import alarm_budget
from rubric_ci.gate.comparison.compared import compare
from rubric_ci.gate.comparison.reference import Baseline
from rubric_ci.values.gate import GateInfo
from rubric_ci.values.report import RunReport, run_verdict, totals
from rubric_ci.values.results import Graded, Trial

COVERS, FOUND = 0.93, 0.75
DROP = 0.08
LARGE = 200  # cases from which a drop of `DROP` has to be found, and never called a rise
BETTER = 0.05  # share of the runs of fewer cases that may call a drop a rise
ERRORS = 2  # standard errors by which a simulated coverage may be lower


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One row of the table."""

    cases: int
    noise: str  # beta | marks
    trials: int
    drop: float
    further: bool
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The results of the runs of a cell, as shares of the runs."""

    red: float
    better: float  # the mean is called significantly higher
    covers: float  # the 95 % interval has the true difference
    mean: float


class Suite:
    """The true levels of the cases, before and after."""

    def __init__(self, cell: Cell, random: Random) -> None:
        self.cell, self.random = cell, random
        if cell.noise == "beta":
            self.before = [random.betavariate(2.0, 0.5) for _ in range(cell.cases)]
            self.after = [p * (1 - cell.drop / fmean(self.before)) for p in self.before]
        else:
            self.before = [0.45 + 0.25 * random.random() for _ in range(cell.cases)]
            self.after = [level - cell.drop for level in self.before]

    @property
    def difference(self) -> float:
        return fmean(self.after) - fmean(self.before)

    def trial(self, level: float) -> Trial:
        if self.cell.noise == "beta":
            passes = self.random.random() < level
            return _trial(1.0 if passes else 0.0, gated=not passes)
        return _trial(min(1.0, max(0.0, level + 0.1 * _normal(self.random.random))), gated=False)

    def case(self, number: int, level: float, trials: int) -> Graded:
        return _case(number, [self.trial(level) for _ in range(trials)])

    def head(self, number: int, before: Graded) -> Graded:
        first = self.case(number, self.after[number], self.cell.trials)
        more = alarm_budget.further_trials(first, before, CONFIG)
        if not more or not self.cell.further:
            return first
        own = first.trials or (Trial(verdict=first.verdict, score=first.score),)
        every = [*own, *(self.trial(self.after[number]) for _ in range(more))]
        return replace(_case(number, every), further_trials=more)


def measure(cell: Cell) -> Found:
    runs = [one_run(cell, seed) for seed in range(cell.runs)]
    red, better, covers, means = zip(*runs, strict=True)
    return Found(red=fmean(red), better=fmean(better), covers=fmean(covers), mean=fmean(means))


def one_run(cell: Cell, seed: int) -> tuple[bool, bool, bool, float]:
    suite = Suite(cell, Random(f"{seed} {cell.cases} {cell.noise} {cell.trials} {cell.drop}"))
    before = [suite.case(n, p, CONFIG.reference_trials) for n, p in enumerate(suite.before)]
    after = [suite.head(n, case) for n, case in enumerate(before)]
    found = compare(report(after), Baseline(report=report(before))).comparison
    assert found is not None
    assert found.mean_difference is not None
    assert found.interval is not None
    low, high = found.interval
    better = found.significant and found.mean_difference > 0
    return found.regressed, better, low <= suite.difference <= high, found.mean_difference


def report(cases: list[Graded]) -> RunReport:
    every = tuple(cases)
    return RunReport(
        tool="",
        started_at="",
        duration_seconds=0,
        verdict=run_verdict(every),
        gate=GateInfo(fail_on="fail", passing=0.8, borderline=0.6, holds=True),
        totals=totals(every),
        cases=every,
    )


def grid(arguments: argparse.Namespace) -> Iterator[Cell]:
    chosen = product(arguments.cases, ("beta", "marks"), (1, 3), (0.0, DROP), (False, True))
    for cases, noise, trials, drop, further in chosen:
        yield Cell(
            cases=cases, noise=noise, trials=trials, drop=drop, further=further, runs=arguments.runs
        )


def faults(cell: Cell, found: Found) -> Iterator[str]:
    """Yield the violations of a cell."""
    error = (COVERS * (1 - COVERS) / cell.runs) ** 0.5
    if found.covers < COVERS - ERRORS * error:
        yield "covers too little"
    if cell.drop and found.better > (0 if cell.cases >= LARGE else BETTER):
        yield "a drop is called significantly better"
    if cell.drop and cell.cases >= LARGE and found.red < FOUND:
        yield "a drop is not found"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, nargs="+", default=[20, 200])
    parser.add_argument("--runs", type=int, default=400, help="per cell")
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    cells = list(grid(arguments))
    with ProcessPoolExecutor(arguments.processes) as pool:
        outcomes = dict(zip(cells, pool.map(measure, cells), strict=True))
    print("| cases, noise, trials | drop | further trials | mean | red | better | covers | |")
    print("|:--|--:|:--|--:|--:|--:|--:|:--|")
    wrong = 0
    for cell, found in outcomes.items():
        why = "; ".join(faults(cell, found))
        wrong += bool(why)
        print(
            f"| {cell.cases}, {cell.noise}, {cell.trials} | {cell.drop:.2f} "
            f"| {'yes' if cell.further else 'no'} | {found.mean:+.3f} | {found.red:.2f} "
            f"| {found.better:.3f} | {found.covers:.3f} | {why} |"
        )
    print(f"Cells with a fault: {wrong}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
