"""Simulate pull requests whose base was answered on another day, by a model that moved since.

    python -m benchmarks.against.moved [--pulls 1000] [--seed 0]

The first answers of the base are from the cache. The logit of each case's chance to pass is lower
today by `moved`, on both sides, and at the head by `worse` more. An alarm is right only where the
head is worse. *even*: all cases pass equally often; the others are as in `breaks.py`, with a
known chance. The exit code is 1 if a row whose head is not worse has more than 5 of 100 alarms,
plus three binomial standard errors.
"""

import argparse
import random
import sys
from collections.abc import Callable, Sequence
from math import exp, log, sqrt
from typing import Final

from benchmarks.against.replica import Case, Decision, Side, bernoulli, decide
from benchmarks.against.simulate import LIMIT


def u_shape(chance: random.Random) -> float:
    kind = chance.random()
    if kind < 0.7:
        return 0.99
    return chance.betavariate(6, 2) if kind < 0.9 else chance.betavariate(1, 3)


def heavy(chance: random.Random) -> float:
    student = chance.gauss(0, 1) / sqrt(chance.gammavariate(1, 2) / 2)
    return 1 / (1 + exp(-(2.5 + 1.2 * student)))


NOISES: Final[dict[str, Callable[[random.Random], float]]] = {
    "even": lambda _: 0.95,
    "u-shape": u_shape,
    "heavy": heavy,
}
ROWS: Final = (
    *((200, moved, 0.0) for moved in (0.5, 1.2, 2.5)),  # 0.95 is 0.92, 0.85 and 0.61 today
    *((50, 1.2, 0.0), (1000, 0.5, 0.0)),
    *((200, 0.0, 1.2), (200, 0.0, 1.8), (200, 0.5, 1.2)),
)


def shifted(passes: float, logits: float) -> float:
    """Return a chance whose logit is lower."""
    passes = min(max(passes, 1e-9), 1 - 1e-9)
    return 1 / (1 + exp(-(log(passes / (1 - passes)) - logits)))


def pulled(
    chance: random.Random,
    draw: Callable[[random.Random], float],
    cases: int,
    moved: float,
    worse: float,
) -> Decision:
    """Return the results of one pull request."""
    return decide([_case(chance, draw(chance), moved, worse) for _ in range(cases)], trials=1)


def _case(chance: random.Random, passes: float, moved: float, worse: float) -> Case:
    today = bernoulli(chance, shifted(passes, moved))
    kept = iter([chance.random() < passes])

    def at_base() -> bool:
        first = next(kept, None)
        return today() if first is None else first

    return Case(
        head=Side(draw=bernoulli(chance, shifted(passes, moved + worse))),
        base=Side(draw=at_base),
        today=today,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a row per suite; return 1 if one whose head is not worse is above the limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pulls", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    allowed = LIMIT + 3 * sqrt(LIMIT * (1 - LIMIT) / options.pulls)
    print("| noise | cases | model moved | head worse | by a drop | called worse | calls |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    worst = 0.0
    for name, draw in NOISES.items():
        for cases, moved, worse in ROWS:
            chance = random.Random(f"{options.seed} {name} {cases} {moved} {worse}")
            found = [pulled(chance, draw, cases, moved, worse) for _ in range(options.pulls)]
            drop, alarms, calls = (
                sum(each) / options.pulls
                for each in zip(*((f.drop, f.alarm, f.calls) for f in found), strict=True)
            )
            worst = worst if worse else max(worst, alarms)
            print(
                f"| {name} | {cases} | {moved} | {worse} | {drop:.3f} | {alarms:.3f} "
                f"| {calls:.1f} |",
                flush=True,
            )
    print(f"\nAt most {worst:.3f} where the head is not worse; allowed {allowed:.3f}.")
    return int(worst > allowed)


if __name__ == "__main__":
    sys.exit(main())
