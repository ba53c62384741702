"""How often quiet nights are worse or an issue, by cause, and whether a drop of the mean is found.

The reference starts with one night of 3 trials; the nights after it are compared and join it until
it has 15 (*provisional*), as `rubric-ci baseline keep` does. *later*: the nights after that.
*found*: after five quiet nights every case gets worse, 0.08 in the mean; the share of sequences
with an issue within three nights. The noises are as in `merges`; `day` has the standard
deviation of the leniency that all marks of a night share, in logits.

    python -m benchmarks.regression.nights [--sequences 40]
"""

import argparse
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import product
from math import sqrt
from random import Random
from statistics import fmean, stdev

from benchmarks.regression.alike import CONFIG, LIMIT, started
from benchmarks.regression.merges import Shared, Suite
from rubric_ci.values.results import Trial

NOISES = ("beta", "day 0.15", "day 0.3", "flips", "corr", "border", "verdict", "file")
PROVISIONAL, LATER = 4, 20  # nights
DROP = 0.08  # of the mean
FOUND_IN = 3  # nights


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A row of the table."""

    cases: int
    noise: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """The shares of the nights of one sequence."""

    provisional: tuple[float, float]  # worse, issue
    worse: float
    issue: float
    slide: float
    found: tuple[bool, bool]  # with three trials, and with one


class Dropping(Suite):
    """Each trial independently loses its score with a probability."""

    loss = 0.0

    def trials(self, case: int, night: Shared, count: int) -> list[Trial]:
        every = super().trials(case, night, count)
        return [_lost(each) if self.random.random() < self.loss else each for each in every]


def _lost(trial: Trial) -> Trial:
    return replace(trial, verdict="fail", score=0.0)


def suite_of(cell: Cell, seed: object) -> Dropping:
    kind, _, deviation = cell.noise.partition(" ")
    suite = Dropping(kind, cell.cases, Random(f"{cell} {seed}"))
    suite.deviation = float(deviation or 0.15)
    return suite


def sequence(cell: Cell, seed: int) -> Shares:
    run = started(suite_of(cell, seed), nights=1, trials=3)
    early = [run.night() for _ in range(PROVISIONAL)]
    later = started(suite_of(cell, f"later {seed}"))
    found, slides = [], []
    for _ in range(LATER):
        found.append(later.night())
        assert later.last is not None
        slides.append(later.last.slide is not None and later.last.slide.detected)
    return Shares(
        provisional=(fmean(w for w, _ in early), fmean(i for _, i in early)),
        worse=fmean(w for w, _ in found),
        issue=fmean(i for _, i in found),
        slide=fmean(slides),
        found=(_found(cell, seed, 3), _found(cell, seed, 1)),
    )


def _found(cell: Cell, seed: int, trials: int) -> bool:
    """Return True if a drop of the mean is an issue within some nights."""
    suite = suite_of(cell, f"drop {trials} {seed}")
    run = started(suite)
    level = fmean(t.score for n in range(cell.cases) for t in run.pooled(n).trials)
    suite.loss = DROP / level
    return any(run.night(trials)[1] for _ in range(FOUND_IN))


def measure(job: tuple[Cell, int]) -> list[Shares]:
    cell, sequences = job
    return [sequence(cell, seed) for seed in range(sequences)]


def shown(shares: Sequence[float]) -> str:
    return f"{fmean(shares):.3f} ± {stdev(shares) / sqrt(len(shares)):.3f}"


def main() -> int:
    """Print a row per size and noise; return 1 if a quiet night is an issue too often."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sequences", type=int, default=40, help="per row")
    parser.add_argument("--cases", type=int, nargs="+", default=[20, 200])
    parser.add_argument("--noise", nargs="+", default=list(NOISES), choices=NOISES)
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    cells = [Cell(cases=c, noise=n) for c, n in product(arguments.cases, arguments.noise)]
    print(f"budget {CONFIG.false_alarms}; shares of nights, ± one standard error")
    print("| cases, noise | provisional: worse | issue | later: worse | issue | slide | found |")
    print("|:--|--:|--:|--:|--:|--:|--:|")
    missed = 0
    with ProcessPoolExecutor(arguments.processes) as pool:
        jobs = [(cell, arguments.sequences) for cell in cells]
        for cell, every in zip(cells, pool.map(measure, jobs), strict=True):
            early, early_issue = zip(*(each.provisional for each in every), strict=True)
            issue = [each.issue for each in every]
            three, one = (fmean(found) for found in zip(*(s.found for s in every), strict=True))
            parts = [early, early_issue, [s.worse for s in every], issue, [s.slide for s in every]]
            cells_ = " | ".join(map(shown, parts))
            row = f"| {cell.cases}, {cell.noise} | {cells_} | {three:.2f} / {one:.2f} |"
            print(row, flush=True)
            missed += fmean(issue) - 2 * stdev(issue) / sqrt(len(issue)) > LIMIT
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
