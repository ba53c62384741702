"""How often the fitted margin of a cascade is worse than the second judge by more than it may be.

    python -m benchmarks.agreement.cascade [--fits 300]

The first judge errs near another verdict (*near*), anywhere (*flat*), or on hard answers, which the
second errs on as well and of which a case has three (*hard*, with the tails of Student's t with 3
degrees of freedom); *alike*: both judges err as often, independently. The true shares of wrong
verdicts are of 200,000 answers. The exit code is 1 if fits are beyond the tolerance in more than 5
of 100, plus three binomial standard errors.
"""

import argparse
import sys
from dataclasses import dataclass
from itertools import product
from math import sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rubric_ci.parts.lab.calibration.cascade import CascadeAnswer, fitted

MANY: Final = 200_000  # answers that the true shares are of
MOVES: Final = np.array([1.0, 2.0, 3.0, 4.0, np.inf])
NOISES: Final = ("near", "flat", "hard", "alike")
LABELS: Final = (30, 60, 120, 240)
TOLERANCES: Final = (0.05, 0.1)
LIMIT: Final = 0.05


@dataclass
class Suite:
    """Answers: how near the first judge is to another verdict, and which judges are wrong."""

    moves: NDArray[np.float64]
    first: NDArray[np.bool_]
    last: NDArray[np.bool_]
    cases: NDArray[np.int64]

    def more_wrong(self, margin: float) -> float:
        """Return by how much the share of wrong verdicts exceeds the last judge's."""
        kept = self.moves > margin
        return float((self.first & kept).mean() - (self.last & kept).mean())

    @property
    def answers(self) -> list[CascadeAnswer]:
        every = zip(self.cases, self.moves, self.first, self.last, strict=True)
        return [
            CascadeAnswer(case=str(c), moves=m, first_wrong=bool(f), last_wrong=bool(w))
            for c, m, f, w in every
        ]


def drawn(noise: str, count: int, random: np.random.Generator) -> Suite:
    """Return answers of a noise."""
    moves = random.choice(MOVES, count, p=[0.35, 0.25, 0.15, 0.1, 0.15])
    cases = np.arange(count)
    far = np.where(np.isinf(moves), 6, moves) - 1
    first, last = 0.3 * 0.45**far, np.full(count, 0.05)
    if noise == "flat":
        first = np.full(count, 0.1)
    if noise == "alike":
        first = last = np.full(count, 0.08)
    if noise == "hard":
        cases //= 3
        hard = (random.standard_t(3, count) + random.standard_t(3, count)[cases]) / sqrt(2)
        first = 1 / (1 + np.exp(2.2 + 0.5 * far - 1.2 * hard))
        last = 1 / (1 + np.exp(3.4 - 0.9 * hard))
    return Suite(moves, random.random(count) < first, random.random(count) < last, cases)


def without_tolerance(found: Suite) -> float:
    """Return the smallest margin with no more wrong verdicts among the labels."""
    margins = range(int(max(found.moves[np.isfinite(found.moves)], default=0)) + 1)
    return next((m for m in margins if found.more_wrong(m) <= 0), margins[-1])


def main() -> int:
    """Print a row per noise, labels and tolerance; return 1 if fits are beyond it too often."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fits", type=int, default=300)
    fits = parser.parse_args().fits
    allowed, worst = LIMIT + 3 * sqrt(LIMIT * (1 - LIMIT) / fits), 0.0
    print("| noise | labels | tolerance | beyond it | no margin | asked | before: a point worse |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for noise, labels, tolerance in product(NOISES, LABELS, TOLERANCES):
        true = drawn(noise, MANY, np.random.default_rng(0))
        beyond, none, asked, before = 0, 0, 0.0, 0
        for seed in range(fits):
            suite = drawn(noise, labels, np.random.default_rng([1, labels, seed]))
            margin = fitted(suite.answers, tolerance)
            beyond += margin is not None and true.more_wrong(margin) > tolerance
            none += margin is None
            asked += 1.0 if margin is None else float((true.moves <= margin).mean())
            before += true.more_wrong(without_tolerance(suite)) >= 0.01
        worst = max(worst, beyond / fits)
        shares = " | ".join(f"{n / fits:.2f}" for n in (none, asked, before))
        print(f"| {noise} | {labels} | {tolerance} | {beyond / fits:.3f} | {shares} |", flush=True)
    print(f"\nAt most {worst:.3f} of the fits are beyond the tolerance; allowed {allowed:.3f}.")
    return int(worst > allowed)


if __name__ == "__main__":
    sys.exit(main())
