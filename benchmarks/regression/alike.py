"""How often quiet nights open an issue if the trials of one night agree more than those of two.

Each case has a probability to pass that never changes. With a correlation r, two trials of a case
in one night agree more than trials of different nights: they are the same draw with probability r
(*draw*), or the night has a probability of its own, from a beta distribution (*drift*). The
reference is gathered over five nights of 3 trials, or in one night of 15. *Worse*: the night is
worse than the reference; *issue*: a case or the mean is worse in two nights in a row, or slid.

    python -m benchmarks.regression.alike [--suites 20]
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import sqrt
from random import Random

from benchmarks.regression.merges import CONFIG, LOG, TRIALS, asked, case_of, report_of
from rubric_ci.comparison import reference
from rubric_ci.comparison.compare import compare
from rubric_ci.comparison.reference import Baseline
from rubric_ci.model.reference_log import ReferenceLog
from rubric_ci.model.report import RunReport
from rubric_ci.model.results import Trial

NIGHTS = 8
SIZES = (20, 200)
CORRELATIONS = (0.0, 0.1, 0.2, 0.3)
KINDS = ("draw", "drift")
LIMIT, FOUND, UP_TO = 0.05, 0.75, 0.2


class Suite:
    """Cases whose trials of one night are alike."""

    def __init__(
        self, cases: int, correlation: float, random: Random, kind: str = "draw", suite: str = ""
    ) -> None:
        self.random, self.kind, self.correlation = random, kind, correlation
        self.chances = [
            random.betavariate(0.6, 0.3) if suite == "beta" else 1 - random.uniform(0.02, 0.2)
            for _ in range(cases)
        ]

    def night(self) -> list[float]:
        """Return the probability to pass of each case in a night."""
        return [self._tonight(chance) for chance in self.chances]

    def _tonight(self, chance: float) -> float:
        r = self.correlation
        if not r or not 0 < chance < 1:
            return chance
        if self.kind == "draw":
            return (1 - sqrt(r)) * chance + sqrt(r) * (self.random.random() < chance)
        scale = (1 - r) / r
        return self.random.betavariate(scale * chance, scale * (1 - chance))

    def trials(self, case: int, night: Sequence[float], count: int) -> list[Trial]:
        return [self._trial(night[case]) for _ in range(count)]

    def _trial(self, chance: float) -> Trial:
        if self.random.random() < chance:
            return Trial(verdict="pass", score=1.0)
        return Trial(verdict="fail", score=0.0)


@dataclass
class Run:
    """The nights of a suite, and their log."""

    suite: Suite
    kept: RunReport
    log: ReferenceLog
    day: int = 0

    def night(self) -> tuple[bool, bool]:
        """Add a night; return whether it is worse, and whether the issue opens."""
        self.day += 1
        tonight, head = self.suite.night(), []
        before = reference.worse_before(self.log)
        for n, was in enumerate(self.kept.cases):
            first = self.suite.trials(n, tonight, TRIALS)
            draw = partial(self.suite.trials, n, tonight)
            head.append(asked(n, first, was, draw, worse_before=("a", str(n)) in before))
        at = f"2026-{1 + self.day // 28:02}-{1 + self.day % 28:02}T12:00:00+00:00"
        report = replace(report_of(head), started_at=at)
        compared = compare(report, Baseline(report=self.kept, log=self.log))
        self.log = self.log.with_night(reference.night_of(compared))
        found = compared.comparison
        assert found is not None
        return found.regressed or found.suspected, found.regressed


def sequence(suite: Suite, nights: int) -> Run:
    """Return a suite with its reference of so many nights."""
    pooled: list[list[Trial]] = [[] for _ in suite.chances]
    for _ in range(nights):
        night = suite.night()
        for n, trials in enumerate(pooled):
            trials.extend(suite.trials(n, night, CONFIG.reference_trials // nights))
    cases = [case_of(n, trials) for n, trials in enumerate(pooled)]
    return Run(suite, report_of(cases), LOG)


def rates(
    cases: int, correlation: float, nights: int, suites: int, kind: str = "draw", suite: str = ""
) -> tuple[float, float]:
    """Return the shares of quiet nights that are worse, and that open or keep an issue."""
    worse = issues = 0
    for seed in range(suites):
        random = Random(f"{cases} {correlation} {nights} {kind} {suite} {seed}")
        run = sequence(Suite(cases, correlation, random, kind, suite), nights)
        found = [run.night() for _ in range(NIGHTS)]
        worse += sum(night for night, _ in found)
        issues += sum(issue for _, issue in found)
    return worse / suites / NIGHTS, issues / suites / NIGHTS


def found_within(
    nights: int, cases: int, correlation: float, sequences: int, kind: str = "draw"
) -> float:
    """Return the share of sequences in which one case with the opposite verdict is an issue."""
    found = 0
    for seed in range(sequences):
        random = Random(f"{cases} {correlation} {kind} {seed}")
        run = sequence(Suite(cases, correlation, random, kind), 5)
        run.suite.chances[0] = 1 - run.suite.chances[0]
        found += any(run.night()[1] for _ in range(nights))
    return found / sequences


def main() -> int:
    """Print a row per size, noise and correlation; return 1 if an aim is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suites", type=int, default=20, help="per row")
    suites = parser.parse_args().suites
    missed = 0
    print("| cases | noise | correlation | worse, 1 x 15 | issue, 1 x 15 | worse, 5 x 3 | issue |")
    print("|--:|:--|--:|--:|--:|--:|--:|")
    for cases in SIZES:
        for suite in ("flips", "beta"):
            for kind in KINDS:
                for r in CORRELATIONS[kind != "draw" :]:
                    one, five = (rates(cases, r, n, suites, kind, suite) for n in (1, 5))
                    cells = " | ".join(f"{share:.3f}" for share in (*one, *five))
                    print(f"| {cases} | {suite}, {kind} | {r} | {cells} |", flush=True)
                    missed += r <= UP_TO and five[1] > LIMIT
    print("\n| one of 200 cases has the opposite verdict, correlation | issue in three nights |")
    print("|--:|--:|")
    for r in CORRELATIONS[:3]:
        share = found_within(3, 200, r, 4 * suites)
        print(f"| {r} | {share:.2f} |", flush=True)
        missed += share < FOUND
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
