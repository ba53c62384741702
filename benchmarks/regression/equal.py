"""How often quiet nights are worse if the trials of a night repeat one answer.

    python -m benchmarks.regression.equal [--suites 20]

Each night draws the answer of each case once again, and its trials repeat it, as at temperature 0
before a provider that differs from night to night. The cases pass as in `against/breaks.py`. The
reference has five nights of three trials, or one of fifteen. *each*: the same trials without their
texts, so that each counts; *once*: equal answers count once. The exit code is 1 if issues by the
rule *once* against five nights are beyond the budget by more than two standard errors.
"""

import argparse
import sys
from itertools import product
from math import sqrt
from random import Random
from statistics import fmean, stdev
from typing import Final

from benchmarks.against.breaks import NOISES
from benchmarks.regression.alike import LIMIT, started
from rubric_ci.values.results import Trial

NIGHTS: Final = 8
ROWS: Final = ((20, 5), (20, 1), (100, 5), (100, 1))  # cases, nights of the reference


class Suite:
    """Cases whose trials of a night are equal."""

    def __init__(self, noise: str, cases: int, random: Random, *, texts: bool) -> None:
        self.random, self.cases, self.texts = random, cases, texts
        self.draws = [NOISES[noise](random) for _ in range(cases)]
        self.nights = 0

    def night(self) -> tuple[int, list[bool]]:
        self.nights += 1
        return self.nights, [passes() for passes in self.draws]

    def trials(self, case: int, night: tuple[int, list[bool]], count: int) -> list[Trial]:
        number, passes = night
        text = f"the answer of night {number} to the question of the case {case}"
        word = "pass" if passes[case] else "fail"
        answer = text if self.texts else None
        return [Trial(verdict=word, score=float(passes[case]), answer=answer)] * count


def rates(noise: str, cases: int, nights: int, suites: int, *, texts: bool) -> list[list[float]]:
    """Return the shares of nights that are worse, and that are an issue, of each suite."""
    every = []
    for seed in range(suites):
        random = Random(f"{noise} {cases} {nights} {seed}")
        run = started(Suite(noise, cases, random, texts=texts), nights)
        found = [run.night() for _ in range(NIGHTS)]
        every.append([fmean(worse for worse, _ in found), fmean(issue for _, issue in found)])
    return [list(column) for column in zip(*every, strict=True)]


def main() -> int:
    """Print a row per noise and size; return 1 if a quiet night is an issue too often."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suites", type=int, default=20, help="per row")
    parser.add_argument("--noise", nargs="+", default=["u-shape", "heavy", "copula"])
    options = parser.parse_args()
    print("| noise | cases | reference | each: worse | issue | once: worse | issue |")
    print("|---|--:|---|--:|--:|--:|--:|")
    missed = 0
    for noise, (cases, nights) in product(options.noise, ROWS):
        each, once = (
            rates(noise, cases, nights, options.suites, texts=texts) for texts in (False, True)
        )
        cells = " | ".join(f"{fmean(column):.3f}" for column in (*each, *once))
        print(f"| {noise} | {cases} | {nights} x {15 // nights} | {cells} |", flush=True)
        missed += nights > 1 and fmean(once[1]) - 2 * stdev(once[1]) / sqrt(options.suites) > LIMIT
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
