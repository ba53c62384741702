"""How often quiet nights open an issue if the trials of one night agree more than trials of two.

Each case has a probability to pass that never changes. With a correlation r, two trials of a case
in one night agree more than trials of different nights: they are the same draw with probability r
(*draw*), or the night has its own probability, from a beta distribution (*drift*). The
reference is gathered over five nights of 3 trials, or in one night of 15. *Worse*: the night is
worse than the reference; *issue*: a case or the mean is worse in two nights in a row, or slid.

    python -m benchmarks.regression.alike [--suites 20]
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import sqrt
from random import Random
from statistics import fmean, stdev
from typing import Protocol

from rubric_ci.gate.comparison import alarm_budget, reference
from rubric_ci.gate.comparison.compared import compare
from rubric_ci.gate.comparison.reference import Baseline
from rubric_ci.grading.engine import STAGES
from rubric_ci.values.comparison import (
    CaseKey,
    Comparison,
    Decision,
    ReferenceLog,
    RegressionConfig,
)
from rubric_ci.values.gate import GateInfo
from rubric_ci.values.report import RunReport, run_verdict, totals
from rubric_ci.values.results import CaseResult, Graded, Trial
from rubric_ci.values.trials import tier

CONFIG = RegressionConfig()
DAY = "2026-01-01T00:00:00+00:00"
LOG = ReferenceLog(decisions=(Decision(reason="", measured_at=DAY, decided_at=DAY, cases=0),))
TRIALS, NIGHTS = 3, 8
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
        self.cases = cases
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


class Noise(Protocol):
    """A suite: what its cases answer."""

    cases: int

    def night(self) -> object:
        """Return the shared effect of the trials of a night."""

    def trials(self, case: int, night: object, count: int) -> list[Trial]:
        """Return trials of a case in a night."""


Kept = dict[str, list[Trial]]
"""The trials of a case in the reference, by night."""


@dataclass
class Run:
    """The nights of a suite: its reference and its log."""

    suite: Noise
    kept: list[Kept]
    log: ReferenceLog = LOG
    day: int = 0
    last: Comparison | None = None

    def pooled(self, case: int) -> Graded:
        """Return a case of the reference."""
        return case_of(case, [trial for night in self.kept[case].values() for trial in night])

    def night(self, count: int = TRIALS) -> tuple[bool, bool]:
        """Add a night of so many trials; return whether it is worse, and whether it is an issue."""
        self.day += 1
        tonight, before = self.suite.night(), reference.worse_before(self.log)
        pinned = report_of([self.pooled(n) for n in range(self.suite.cases)])
        firsts = [self.suite.trials(n, tonight, count) for n in range(self.suite.cases)]
        head = [
            asked(
                n,
                first,
                pinned.cases[n],
                partial(self.suite.trials, n, tonight),
                worse_before=("a", str(n)) in before,
            )
            for n, first in enumerate(firsts)
        ]
        at = f"{2026 + self.day // 336}-{1 + self.day // 28 % 12:02}-{1 + self.day % 28:02}"
        report = replace(report_of(head), started_at=f"{at}T12:00:00+00:00")
        compared = compare(report, Baseline(report=pinned, log=self.log, nights=self._scores()))
        self.log = self.log.with_night(reference.night_of(compared))
        found = self.last = compared.comparison
        assert found is not None
        for n, (nights, first) in enumerate(zip(self.kept, firsts, strict=True)):
            lacking = CONFIG.reference_trials - sum(map(len, nights.values()))
            if lacking > 0 and not found.lower and ("a", str(n)) not in found.worse_cases:
                nights[at] = first[:lacking]
        return found.regressed or found.suspected, found.regressed

    def _scores(self) -> dict[CaseKey, dict[str, list[float]]]:
        return {
            ("a", str(n)): {night: [t.score for t in trials] for night, trials in nights.items()}
            for n, nights in enumerate(self.kept)
        }


def started(suite: Noise, nights: int = 5, trials: int = CONFIG.reference_trials) -> Run:
    """Return a suite with a reference of so many trials, gathered over some nights."""
    kept: list[Kept] = [{} for _ in range(suite.cases)]
    for number in range(nights):
        night = suite.night()
        for n, found in enumerate(kept):
            found[f"before {number}"] = suite.trials(n, night, trials // nights)
    return Run(suite, kept)


def rates(
    cases: int, correlation: float, nights: int, suites: int, kind: str = "draw", suite: str = ""
) -> tuple[float, float, float]:
    """Return the shares of quiet nights that are worse and that are an issue, and its error."""
    worse, issues = [], []
    for seed in range(suites):
        random = Random(f"{cases} {correlation} {nights} {kind} {suite} {seed}")
        run = started(Suite(cases, correlation, random, kind, suite), nights)
        found = [run.night() for _ in range(NIGHTS)]
        worse.append(fmean(night for night, _ in found))
        issues.append(fmean(issue for _, issue in found))
    return fmean(worse), fmean(issues), stdev(issues) / sqrt(suites)


def found_within(
    nights: int, cases: int, correlation: float, sequences: int, kind: str = "draw"
) -> float:
    """Return the share of sequences in which one case with the opposite verdict is an issue."""
    found = 0
    for seed in range(sequences):
        random = Random(f"{cases} {correlation} {kind} {seed}")
        run = started(Suite(cases, correlation, random, kind), 5)
        run.suite.chances[0] = 1 - run.suite.chances[0]
        found += any(run.night()[1] for _ in range(nights))
    return found / sequences


def asked(
    number: int,
    first: Sequence[Trial],
    was: CaseResult,
    draw: Callable[[int], Sequence[Trial]],
    *,
    worse_before: bool = False,
) -> Graded:
    """Return a case of a night with the further trials that it is given."""
    case = case_of(number, first)
    for _ in range(STAGES):
        more = alarm_budget.further_trials(case, was, CONFIG, worse_before=worse_before)
        every = [*case.trials, *draw(more)]
        case = replace(case_of(number, every), further_trials=len(every) - len(first))
    return case


def case_of(number: int, trials: Sequence[Trial]) -> Graded:
    ranked = sorted(trials, key=lambda each: (tier(each.verdict), each.score))
    median = ranked[(len(ranked) - 1) // 2]
    return Graded(
        file="a",
        line=1,
        id=str(number),
        verdict=median.verdict,
        score=median.score,
        reason="",
        trials=tuple(trials),
    )


def report_of(cases: Sequence[Graded]) -> RunReport:
    return RunReport(
        tool="",
        started_at=DAY,
        duration_seconds=0,
        verdict=run_verdict(cases),
        gate=GateInfo(fail_on="fail", passing=0.8, borderline=0.6, holds=True),
        totals=totals(cases),
        cases=tuple(cases),
    )


def main() -> int:
    """Print a row per size, noise and correlation; return 1 if an aim is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suites", type=int, default=20, help="per row")
    suites = parser.parse_args().suites
    missed = 0
    print(
        "| cases | noise | correlation | worse, 1 x 15 | issue, 1 x 15 | worse, 5 x 3 | issue | ± |"
    )
    print("|--:|:--|--:|--:|--:|--:|--:|--:|")
    for cases in SIZES:
        for suite in ("flips", "beta"):
            for kind in KINDS:
                for r in CORRELATIONS[kind != "draw" :]:
                    one, five = (rates(cases, r, n, suites, kind, suite) for n in (1, 5))
                    cells = " | ".join(f"{share:.3f}" for share in (*one[:2], *five))
                    print(f"| {cases} | {suite}, {kind} | {r} | {cells} |", flush=True)
                    missed += r <= UP_TO and five[1] - 2 * five[2] > LIMIT
    print("\n| one of 200 cases has the opposite verdict, correlation | issue in three nights |")
    print("|--:|--:|")
    for r in CORRELATIONS[:3]:
        share = found_within(3, 200, r, 4 * suites)
        print(f"| {r} | {share:.2f} |", flush=True)
        missed += share < FOUND
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
