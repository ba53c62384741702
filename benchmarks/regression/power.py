"""Whether a drop of the size that the sentence on power names is found as often as it says.

A change affects a random part of the clusters, each case of which loses `LOSS` of a point. The
sentence is given the true variance of a trial; the test of the mean is rubric-ci's. *scores* have
the standard deviation 0.1, *criteria* are shares of five that are met, *verdicts* are 0 or 1.

    python -m benchmarks.regression.power [--runs 500]
"""

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from rubric_ci.text.statistics import significance
from rubric_ci.text.statistics.power import LOSS, POWER, Design, Variances, smallest_drop

NEAR = 0.05  # by which the share of drops found may differ from what the sentence says
ERRORS = 2  # standard errors of a simulated share
LEVEL = 0.75  # of every case before the change
DEVIATION = 0.1  # of the score of a trial
VARIANCES = {
    "scores": DEVIATION**2,
    "criteria": LEVEL * (1 - LEVEL) / 5,
    "verdicts": LEVEL * (1 - LEVEL),
}
SIZES = ((8, 8), (24, 24), (100, 100), (200, 200), (24, 8), (100, 20))  # cases, clusters
TRIALS = ((1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (1, 3), (5, 3), (1, 15), (3, 15))


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A row of the table, and one of its columns."""

    cases: int
    clusters: int
    trials: int
    reference_trials: int
    marks: str

    @property
    def drop(self) -> float | None:
        """The drop that the sentence names."""
        design = Design(
            cases=self.cases,
            clusters=self.clusters,
            trials=self.trials,
            reference_trials=self.reference_trials,
        )
        return smallest_drop(design, Variances(target=VARIANCES[self.marks], judge=0))


def found(job: tuple[Cell, int]) -> float | None:
    """Return the share of the runs whose mean is significantly lower."""
    cell, runs = job
    random = np.random.default_rng(abs(hash((cell.cases, cell.clusters, cell.trials))))
    drop = cell.drop
    return None if drop is None else sum(_one_run(cell, drop, random) for _ in range(runs)) / runs


def _one_run(cell: Cell, drop: float, random: np.random.Generator) -> bool:
    size = cell.cases // cell.clusters
    hit = np.repeat(random.random(cell.clusters) < drop / LOSS, size)
    before = _means(cell, np.full(cell.cases, LEVEL), cell.reference_trials, random)
    after = _means(cell, LEVEL - LOSS * hit.astype(np.float64), cell.trials, random)
    sums = (after - before).reshape(cell.clusters, size).sum(axis=1)
    return bool(sums.sum() < 0 and significance.p_value(list(sums)) < significance.SIGNIFICANT)


def _means(
    cell: Cell, levels: NDArray[np.float64], trials: int, random: np.random.Generator
) -> NDArray[np.float64]:
    """Return the mean score of each case."""
    if cell.marks == "scores":
        noise = DEVIATION * random.standard_normal((trials, cell.cases))
        return np.asarray(np.clip(levels + noise, 0, 1).mean(axis=0))
    marks = 5 if cell.marks == "criteria" else 1
    return np.asarray(random.binomial(trials * marks, levels) / (trials * marks))


def main() -> int:
    """Print a row per design; return 1 if a share is not near what the sentence says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500, help="per cell")
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    rows = list(product(SIZES, TRIALS))
    cells = [
        Cell(cases=n, clusters=k, trials=here, reference_trials=there, marks=marks)
        for (n, k), (here, there) in rows
        for marks in VARIANCES
    ]
    with ProcessPoolExecutor(arguments.processes) as pool:
        shares = dict(
            zip(cells, pool.map(found, [(c, arguments.runs) for c in cells]), strict=True)
        )
    print(f"| cases, clusters, trials | {' | '.join(VARIANCES)} |")
    print(f"|:--|{'--:|' * len(VARIANCES)}")
    for number, ((n, k), (here, there)) in enumerate(rows):
        columns = cells[number * len(VARIANCES) :][: len(VARIANCES)]
        print(
            f"| {n}, {k}, {here} and {there} | {' | '.join(_shown(c, shares) for c in columns)} |"
        )
    error = (POWER * (1 - POWER) / arguments.runs) ** 0.5
    stated = [share for share in shares.values() if share is not None]
    far = [share for share in stated if abs(share - POWER) > NEAR + ERRORS * error]
    print(f"{len(stated)} cells, {min(stated):.2f} to {max(stated):.2f}, {len(far)} that differ")
    return 1 if far else 0


def _shown(cell: Cell, shares: dict[Cell, float | None]) -> str:
    share = shares[cell]
    return "not stated" if share is None else f"{cell.drop:.3f}: {share:.2f}"


if __name__ == "__main__":
    sys.exit(main())
