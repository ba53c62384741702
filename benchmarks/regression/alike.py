"""How often a quiet night is red if the trials of one night agree more than those of two nights.

Each case has a probability to pass that never changes. With a correlation r, two trials of a case
in one night are the same draw with probability r. The reference is one night of 15 trials, as the
first night measures it, or five nights of 3. *night*: the night is worse; *issue*: it is the
second worse night in a row.

    python -m benchmarks.regression.alike [--suites 20]
"""

import argparse
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from math import sqrt
from random import Random

from benchmarks.regression.merges import CONFIG, LOG, TRIALS, asked, case_of, report_of
from rubric_ci.comparison.compare import compare
from rubric_ci.comparison.reference import Baseline
from rubric_ci.model.results import Trial

NIGHTS = 10
SIZES = (20, 200)
CORRELATIONS = (0.0, 0.1, 0.2)


class Suite:
    """Cases whose trials of one night are alike."""

    def __init__(self, cases: int, correlation: float, random: Random) -> None:
        self.random = random
        self.shared = sqrt(correlation)
        self.chances = [1 - random.uniform(0.02, 0.2) for _ in range(cases)]

    def night(self) -> list[float]:
        """Return the draw of each case that its trials of a night share."""
        return [self.random.random() for _ in self.chances]

    def trials(self, case: int, night: Sequence[float], count: int) -> list[Trial]:
        return [self._trial(case, night[case]) for _ in range(count)]

    def _trial(self, case: int, common: float) -> Trial:
        alike = self.random.random() < self.shared
        if (common if alike else self.random.random()) < self.chances[case]:
            return Trial(verdict="pass", score=1.0)
        return Trial(verdict="fail", score=0.0)


def rates(cases: int, correlation: float, nights: int, suites: int) -> tuple[float, float]:
    """Return the shares of red nights and of nights with an issue."""
    red = issues = 0
    for seed in range(suites):
        suite = Suite(cases, correlation, Random(f"{cases} {correlation} {nights} {seed}"))
        reference = _reference(suite, nights)
        found = [_is_red(suite, reference) for _ in range(NIGHTS)]
        red += sum(found)
        issues += sum(one and other for one, other in pairwise(found))
    return red / suites / NIGHTS, issues / suites / (NIGHTS - 1)


def found_within(nights: int, cases: int, loss: float, sequences: int) -> float:
    """Return the share of sequences in which one worse case opens the issue within some nights."""
    found = 0
    for seed in range(sequences):
        suite = Suite(cases, 0.0, Random(f"{cases} {loss} {seed}"))
        reference = _reference(suite, 1)
        suite.chances[0] *= 1 - loss
        red = [_is_red(suite, reference) for _ in range(nights)]
        found += any(one and other for one, other in pairwise(red))
    return found / sequences


def _reference(suite: Suite, nights: int) -> Baseline:
    pooled: list[list[Trial]] = [[] for _ in suite.chances]
    for _ in range(nights):
        night = suite.night()
        for n, trials in enumerate(pooled):
            trials.extend(suite.trials(n, night, CONFIG.reference_trials // nights))
    cases = [case_of(n, trials) for n, trials in enumerate(pooled)]
    return Baseline(report=report_of(cases), log=LOG)


def _is_red(suite: Suite, reference: Baseline) -> bool:
    night, head = suite.night(), []
    for n, was in enumerate(reference.report.cases):
        first = suite.trials(n, night, TRIALS)
        head.append(asked(n, first, was, partial(suite.trials, n, night)))
    found = compare(report_of(head), reference).comparison
    assert found is not None
    return found.regressed


def main() -> None:
    """Print a row per size and correlation."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suites", type=int, default=20, help="per row")
    suites = parser.parse_args().suites
    print("| cases | correlation | night, 1 x 15 | issue, 1 x 15 | night, 5 x 3 | issue, 5 x 3 |")
    print("|--:|--:|--:|--:|--:|--:|")
    for cases in SIZES:
        for correlation in CORRELATIONS:
            one, five = (rates(cases, correlation, nights, suites) for nights in (1, 5))
            cells = " | ".join(f"{share:.3f}" for share in (*one, *five))
            print(f"| {cases} | {correlation} | {cells} |", flush=True)
    for loss in (0.6, 0.8, 1.0):
        share = found_within(3, 200, loss, 2 * suites)
        print(f"one of 200 cases passes {loss:.0%} less: an issue within 3 nights in {share:.2f}")


if __name__ == "__main__":
    main()
