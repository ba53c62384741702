"""Simulate pull requests that break one case, and ones that change nothing, in several noises.

    python -m benchmarks.against.breaks [--pulls 200] [--seed 0]

Each pull request draws the cases' chances to pass: *u-shape* (70 % of cases pass in 99 of 100
trials, 20 % mostly, 10 % seldom), *heavy* (Student's t with two degrees of freedom on the logit),
*copula* (four criteria with errors of one answer in common, t with three) and *coarse* (cases pass
always, nine, five or one time of ten). A broken case passes in one of fifty trials; it is drawn
among those that pass in nine of ten trials or more, since others were broken before. The exit code
is 1 if pull requests without a change are called worse more often than 5 of 100, plus three
binomial standard errors.
"""

import argparse
import asyncio
import random
import sys
from collections.abc import Callable, Sequence
from math import exp, sqrt
from typing import Final, TypeAlias

from benchmarks.against.simulate import LIMIT, Pulled, pull_request
from rubric_ci.grading.resolve import Task
from rubric_ci.values.results import Graded
from rubric_ci.values.scoring import Verdict

Draw: TypeAlias = Callable[[random.Random], Callable[[], bool]]
"""Draws a case, and returns what draws whether a trial passes."""

BROKEN: Final = 0.02  # how often a broken case passes
SOUND: Final = 0.9  # and what it passed before, at least


def _bernoulli(chance: random.Random, passes: float) -> Callable[[], bool]:
    return lambda: chance.random() < passes


def _student(chance: random.Random, freedom: int) -> float:
    return chance.gauss(0, 1) / sqrt(chance.gammavariate(freedom / 2, 2) / freedom)


def u_shape(chance: random.Random) -> Callable[[], bool]:
    kind = chance.random()
    if kind < 0.7:
        return _bernoulli(chance, 0.99)
    return _bernoulli(chance, chance.betavariate(6, 2) if kind < 0.9 else chance.betavariate(1, 3))


def heavy(chance: random.Random) -> Callable[[], bool]:
    return _bernoulli(chance, 1 / (1 + exp(-(2.5 + 1.2 * _student(chance, 2)))))


def copula(chance: random.Random) -> Callable[[], bool]:
    easy = [2.6 + 0.9 * chance.gauss(0, 1) + 0.8 * chance.gauss(0, 1) for _ in range(4)]

    def passes() -> bool:
        shared = chance.gauss(0, sqrt(0.5))
        wide = 1.2 / sqrt(chance.gammavariate(1.5, 2) / 3)
        return all(m + wide * (shared + chance.gauss(0, sqrt(0.5))) > 0 for m in easy)

    return passes


def coarse(chance: random.Random) -> Callable[[], bool]:
    return _bernoulli(chance, chance.choices([1.0, 0.9, 0.5, 0.1], [6, 2, 1, 1])[0])


NOISES: Final = {"u-shape": u_shape, "heavy": heavy, "copula": copula, "coarse": coarse}


def pulled(
    chance: random.Random, draw: Draw, cases: int, trials: int, broken: int
) -> tuple[Pulled, frozenset[str]]:
    """Return the results of one pull request, and the cases that it breaks."""
    suite = [draw(chance) for _ in range(cases)]
    sound = [n for n, passes in enumerate(suite) if _passes_mostly(passes)]
    bad = frozenset(map(str, chance.sample(sound, min(broken, len(sound)))))

    def trial(task: Task, *, is_head: bool) -> Graded:
        name = task.case.id
        passes = suite[int(name)]() if not (is_head and name in bad) else chance.random() < BROKEN
        verdict: Verdict = "pass" if passes else "fail"
        return Graded(
            file=task.case.file, line=1, id=name, verdict=verdict, score=float(passes), reason=""
        )

    return asyncio.run(pull_request(cases, trials, trial)), bad


def _passes_mostly(passes: Callable[[], bool]) -> bool:
    return sum(passes() for _ in range(100)) >= 100 * SOUND


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a row per suite; return 1 if one without a change is above the limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pulls", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    allowed = LIMIT + 3 * sqrt(LIMIT * (1 - LIMIT) / options.pulls)
    print("| noise | cases | trials | broken case found | quiet, with an alarm | quiet, calls |")
    print("|---|--:|--:|--:|--:|--:|")
    worst = 0.0
    for name, draw in NOISES.items():
        for cases, trials in ((20, 1), (200, 1), (200, 3)):
            chance = random.Random(f"{options.seed} {name} {cases} {trials}")
            found, alarms, calls = 0, 0, 0
            for _ in range(options.pulls):
                quiet, _ = pulled(chance, draw, cases, trials, 0)
                alarms, calls = alarms + quiet.alarm, calls + quiet.further_trials
                once, bad = pulled(chance, draw, cases, trials, 1)
                found += bad <= once.broken
            worst = max(worst, alarms / options.pulls)
            print(
                f"| {name} | {cases} | {trials} | {found / options.pulls:.3f} "
                f"| {alarms / options.pulls:.3f} | {calls / options.pulls:.1f} |",
                flush=True,
            )
    print(f"\nAt most {worst:.3f} of the pull requests without a change; allowed {allowed:.3f}.")
    return int(worst > allowed)


if __name__ == "__main__":
    sys.exit(main())
