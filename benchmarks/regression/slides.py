"""How often the detector of slow slides is wrong, and when it finds a slide.

A sequence has its own suite and its own reference of 15 trials. Quiet sequences have 200 nights; a
slide loses 0.20 of the good answers over 80 nights. The rule `means` is the detector with one bet
per case or cluster of at most half of the stake, as it was first: `trials` is rubric_ci's, the
figures of which are compared with its code in each sequence.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from math import log, sqrt
from statistics import NormalDist, fmean, median
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from rubric_ci.gate.comparison import drift
from rubric_ci.gate.comparison.drift import Observed

Scores = NDArray[np.float64]
"""By night, case and trial."""

BUDGET: Final = 0.05
THRESHOLD: Final = 2 * drift.NIGHTS / BUDGET
QUIET, SLIDING = drift.NIGHTS, 80  # nights
LOSS: Final = 0.2
CLUSTER: Final = 5  # cases
SHARED: Final = sqrt(0.5)  # share of the draws that a case has in common with its cluster
REFERENCE: Final = 15  # trials
ERRORS: Final = 3  # standard errors by which a rate may exceed the budget
MEANS: Final = (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2)
RULES: Final = ("means", "trials")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One row and column of the tables."""

    cases: int
    noise: str  # probability of a flip, or `C`: three marks with standard deviation 0.7
    clustered: bool
    trials: int
    sequences: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Of one rule: the share of quiet sequences with an alarm, and the nights of slides."""

    false: float
    nights: tuple[int | None, ...]  # None: not found


class Suite:
    """Cases with their own levels; one in five fails."""

    def __init__(self, cell: Cell, seed: int) -> None:
        self.cell = cell
        self.random = np.random.default_rng([seed, cell.cases, cell.trials, cell.clustered])
        self.levels = self.random.random(cell.cases)[None, :, None]
        self.good = (self.random.random(cell.cases) > 0.2)[None, :, None]

    def nights(self, count: int, trials: int, drop: float | Scores = 0.0) -> Scores:
        """Return the scores of nights that lose `drop` of what is good."""
        shape = (count, self.cell.cases, trials)
        if self.cell.noise == "C":
            marks = [self._mark(shape, drop) for _ in range(3)]
            return np.asarray(sum(marks), dtype=np.float64) / 30
        flipped = self._draws(shape) < float(self.cell.noise)
        answered = np.where(flipped, ~self.good, self.good)
        return np.where(self._draws(shape) < drop, 0.0, answered.astype(np.float64))

    def _mark(self, shape: tuple[int, int, int], drop: float | Scores) -> Scores:
        noise = ndtri(np.clip(self._draws(shape), 1e-12, 1 - 1e-12))
        return np.clip(np.round(6 + 3.5 * self.levels + 0.7 * noise - 10 * drop), 0, 10)

    def _draws(self, shape: tuple[int, int, int]) -> Scores:
        own = self.random.random(shape)
        if not self.cell.clustered:
            return own
        count, cases, trials = shape
        common = self.random.random((count, cases // CLUSTER, trials)).repeat(CLUSTER, axis=1)
        return np.where(self.random.random(shape) < SHARED, common, own)


def products(rule: str, head: Scores, reference: Scores, size: int) -> Scores:
    """Return the products of nights, by night and bet; `size` cases are a cluster."""
    nights, cases, trials = head.shape
    clusters = cases // size
    kept = reference.reshape(clusters, size, REFERENCE).sum(axis=1)
    error = sqrt(kept.var(axis=1, ddof=1).sum() / REFERENCE)
    risk = BUDGET / 2
    bound = NormalDist().inv_cdf(1 - risk) * error + log(1 / risk) / REFERENCE
    allowance, means = bound / clusters, kept.mean(axis=1)
    scores = head.reshape(nights, clusters, size, trials).sum(axis=2)
    if rule == "means":
        drops = (means - scores.mean(axis=2) - allowance) / size
        return np.exp(np.stack([np.log1p(bet * drops).sum(axis=1) for bet in MEANS], axis=1))
    drops = (means[None, :, None] - scores - allowance) / ((size - means).max() + allowance)
    units = drops.reshape(nights, -1)
    gains = [np.log1p(bet * units).sum(axis=1) for bet in drift.BETS]
    return np.exp(np.minimum(np.stack(gains, axis=1), log(drift.MOST_OF_A_NIGHT)))


def first_alarm(nights: Scores) -> int | None:
    """Return the night of the first alarm, from 1."""
    stakes = np.zeros(nights.shape[1])
    for number, gains in enumerate(nights, 1):
        stakes = np.minimum((1 + stakes) * gains, 1e300)
        if stakes.mean() >= THRESHOLD:
            return number
    return None


def sequence(cell: Cell, seed: int) -> list[tuple[bool, int | None]]:
    """Return for each rule whether a quiet sequence raised an alarm, and when a slide did."""
    suite, size = Suite(cell, seed), CLUSTER if cell.clustered else 1
    reference = suite.nights(1, REFERENCE)[0]
    quiet = suite.nights(QUIET, cell.trials)
    steps = LOSS * np.arange(1, SLIDING + 1) / SLIDING
    sliding = suite.nights(SLIDING, cell.trials, steps[:, None, None])
    check(quiet[0], reference, size)
    return [
        (
            first_alarm(products(rule, quiet, reference, size)) is not None,
            first_alarm(products(rule, sliding, reference, size)),
        )
        for rule in RULES
    ]


def check(night: Scores, reference: Scores, size: int) -> None:
    """Compare one night with the code of rubric_ci."""
    cases = [
        Observed(head=list(head), reference=list(kept))
        for head, kept in zip(night, reference, strict=True)
    ]
    clusters = [cases[n : n + size] for n in range(0, len(cases), size)]
    expected = np.minimum(np.exp(drift.log_products(clusters, BUDGET)), drift.MOST_OF_A_NIGHT)
    found = products("trials", night[None], reference, size)[0]
    assert np.allclose(found, expected, rtol=1e-4), (found, expected)


def measure(cell: Cell) -> list[Found]:
    """Return the findings of each rule."""
    every = zip(*(sequence(cell, seed) for seed in range(cell.sequences)), strict=True)
    return [
        Found(false=fmean(alarm for alarm, _ in rule), nights=tuple(night for _, night in rule))
        for rule in every
    ]


def grid(arguments: argparse.Namespace) -> Iterator[Cell]:
    chosen = product(arguments.cases, arguments.noise, (False, True), (1, 3, 5))
    for cases, noise, clustered, trials in chosen:
        sequences = min(arguments.sequences, max(20, arguments.budget // cases))
        yield Cell(
            cases=cases, noise=noise, clustered=clustered, trials=trials, sequences=sequences
        )


def shown(found: Found) -> str:
    """Return the share of slides that are found, and the median night."""
    ordered = median(night or SLIDING + 1 for night in found.nights)
    share = fmean(night is not None for night in found.nights)
    return f"{share:.2f} ({f'night {ordered:.0f}' if ordered <= SLIDING else 'later'})"


def table(title: str, rows: dict[str, list[str]]) -> str:
    titles = [f"{rule}, {trials}" for trials in (1, 3, 5) for rule in RULES]
    head = ["| cases, noise | " + " | ".join(titles) + " |", "|:--|" + "--:|" * len(titles)]
    body = [f"| {name} | {' | '.join(cells)} |" for name, cells in rows.items()]
    return "\n".join([f"### {title}", *head, *body, ""])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, nargs="+", default=[20, 100, 500])
    parser.add_argument("--noise", nargs="+", default=["0.02", "0.1", "0.2", "0.3", "C"])
    parser.add_argument("--sequences", type=int, default=200, help="per cell, at most")
    parser.add_argument("--budget", type=int, default=100_000, help="cases per cell, at most")
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    cells = list(grid(arguments))
    with ProcessPoolExecutor(arguments.processes) as pool:
        outcomes = dict(zip(cells, pool.map(measure, cells), strict=True))
    false: dict[str, list[str]] = {}
    found: dict[str, list[str]] = {}
    for cell, rules in outcomes.items():
        name = f"{cell.cases}, {cell.noise}{', clusters' if cell.clustered else ''}"
        false.setdefault(f"{name} ({cell.sequences})", []).extend(f"{r.false:.3f}" for r in rules)
        found.setdefault(name, []).extend(map(shown, rules))
    print(table(f"Sequences of {QUIET} quiet nights with an alarm", false))
    print(table(f"Slides of {LOSS:.2f} over {SLIDING} nights that are found", found))
    return conclude(list(outcomes.items()))


def conclude(outcomes: Sequence[tuple[Cell, list[Found]]]) -> int:
    """Return 1 if a cell of rubric_ci's rule is beyond the budget."""
    beyond = [
        cell
        for cell, rules in outcomes
        if rules[-1].false > BUDGET + ERRORS * sqrt(BUDGET * (1 - BUDGET) / cell.sequences)
    ]
    print(f"Cells beyond the budget plus {ERRORS} standard errors: {len(beyond)}", *beyond)
    return 1 if beyond else 0


if __name__ == "__main__":
    sys.exit(main())
