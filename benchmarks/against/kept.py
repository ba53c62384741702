"""Breaks that are found if the cache of the default branch has 15 answers of each base case.

    python -m benchmarks.against.kept [--pulls 200] [--seed 0]

The suspects of 200 cases with one first trial, in the noises of `breaks.py`, tested one by one as
`replica.py` does; all cases together are not tested. *asked*: every further trial of the base is
asked for; *kept*: it comes from the cache, and a case that these show to be broken is held against
fresh answers. *Moved*: the logit of each case's chance to pass is lower today by 1.2, on both
sides. The exit code is 1 if *kept* calls pull requests without a change worse more often than 5 of
100, plus three binomial standard errors.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt
from random import Random
from typing import Final

import numpy as np

from benchmarks.against.breaks import BROKEN, NOISES, SOUND
from benchmarks.against.ladder import MANY, TRIED, lowered
from benchmarks.against.replica import Case, Decision, Side, bernoulli, confirm, p_value
from benchmarks.against.simulate import LIMIT
from rubric_ci.gate.comparison import verdicts
from rubric_ci.values.comparison import RegressionConfig

CASES: Final = 200
KEPT: Final = 14  # further trials of the base in the cache
CONFIG: Final = verdicts.for_cases(RegressionConfig())
HALF: Final = replace(CONFIG, false_alarms=CONFIG.false_alarms / 2)


@dataclass
class Pulled:
    """The cases that are called broken, and the requests for further trials."""

    broken: list[int]
    calls: int


def pulled(random: Random, head: Sequence[float], base: Sequence[float], now: Sequence[float],
           *, kept: bool) -> Pulled:  # fmt: skip
    """Return the results of one pull request; the base passed by `base`, and today by `now`."""
    there = base if kept else now
    cases = [
        Case(head=Side(bernoulli(random, here)), base=Side(bernoulli(random, then)))
        for here, then in zip(head, there, strict=True)
    ]
    first = [random.random() < chance for chance in base]  # from the cache in any case
    for case, passed in zip(cases, first, strict=True):
        case.head.ask()
        case.base.passed, case.base.asked = int(passed), 1
    suspects = [n for n, case in enumerate(cases) if case.base.passes and not case.head.passes]
    found = Decision()
    if suspects:
        confirm(cases, suspects, 1, CONFIG, found, kept=KEPT if kept else 0)
    if not kept or not found.broken:
        return Pulled(found.broken, found.calls)
    most = verdicts.most_trials(len(found.broken), 1, HALF)
    level = verdicts.level_of(len(found.broken), 1, HALF)
    broken = []
    for number in found.broken:
        passed = sum(random.random() < now[number] for _ in range(most))
        side = cases[number].head
        if p_value(side.passed, side.asked, passed, most) <= level:
            broken.append(number)
    return Pulled(broken, found.calls + most * len(found.broken))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a row per noise; return 1 if a quiet one is above the limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pulls", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--noise", nargs="+", default=list(NOISES), choices=list(NOISES))
    options = parser.parse_args(arguments)
    allowed = LIMIT + 3 * sqrt(LIMIT * (1 - LIMIT) / options.pulls)
    print("| noise | base | broken case found | quiet | calls | moved, quiet | calls |")
    print("|---|---|--:|--:|--:|--:|--:|")
    worst = 0.0
    for noise in options.noise:
        draw = NOISES[noise]
        random = Random(f"{options.seed} {noise}")
        draws = [draw(random) for _ in range(MANY // 3)]
        pool = np.array([sum(passes() for _ in range(TRIED)) / TRIED for passes in draws])
        for kept in (False, True):
            found, quiet, calls, moved, moved_calls = 0, 0, 0, 0, 0
            for _ in range(options.pulls):
                base = np.array(random.choices(list(pool), k=CASES))
                same = pulled(random, list(base), list(base), list(base), kept=kept)
                quiet, calls = quiet + bool(same.broken), calls + same.calls
                bad = random.choice(list(np.flatnonzero(base >= SOUND)))
                head = np.where(np.arange(CASES) == bad, BROKEN, base)
                found += bad in pulled(random, list(head), list(base), list(base), kept=kept).broken
                today = lowered(base)
                world = pulled(random, list(today), list(base), list(today), kept=kept)
                moved, moved_calls = moved + bool(world.broken), moved_calls + world.calls
            shares = [count / options.pulls for count in (found, quiet, calls, moved, moved_calls)]
            worst = max(worst, shares[1], shares[3]) if kept else worst
            print(
                f"| {noise} | {'kept' if kept else 'asked'} | {shares[0]:.3f} | {shares[1]:.3f} "
                f"| {shares[2]:.1f} | {shares[3]:.3f} | {shares[4]:.1f} |",
                flush=True,
            )
    print(f"\nAt most {worst:.3f} of the pull requests without a change; allowed {allowed:.3f}.")
    return int(worst > allowed)


if __name__ == "__main__":
    sys.exit(main())
