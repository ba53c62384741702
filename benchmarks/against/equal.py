"""Simulate pull requests whose target repeats its answers, as at temperature 0 or with a seed.

    python -m benchmarks.against.equal [--pulls 200] [--seed 0]

A change of the prompt draws the answer of each case once again: its trials repeat it. *exact*: each
trial does; *nearly*: one trial of ten is another draw, as of a provider that is not deterministic.
The cases pass as in `breaks.py`. `broken` cases pass at the base and fail at the head. The exit
code is 1 if pull requests without a change for the worse are called worse more often than 5 of
100, plus three binomial standard errors.
"""

import argparse
import asyncio
import random
import sys
from collections.abc import Callable, Sequence
from math import sqrt
from typing import Final

from benchmarks.against.breaks import NOISES, Draw
from benchmarks.against.simulate import LIMIT, Pulled, pull_request
from rubric_ci.grading.resolve import Task
from rubric_ci.values.results import Graded

ROWS: Final = ((10, 0), (50, 0), (200, 0), (50, 5))
OTHER: Final = {"exact": 0.0, "nearly": 0.1}  # share of the trials that are another draw


def pulled(
    chance: random.Random, draw: Draw, cases: int, broken: int, other: float, trials: int = 1
) -> Pulled:
    """Return the results of one pull request; the first cases are `broken`."""
    suite = [draw(chance) for _ in range(cases)]
    answers: dict[tuple[bool, str], bool] = {}

    def trial(task: Task, *, is_head: bool) -> Graded:
        name = task.case.id
        passes: Callable[[], bool] = suite[int(name)]
        if int(name) < broken:
            passes = lambda: not is_head  # noqa: E731
        first = answers.setdefault((is_head, name), passes())
        repeated = chance.random() >= other
        found = first if repeated else passes()
        side = "head" if is_head else "base"
        draw_of = "the answer" if repeated else f"another answer, {chance.random()}"
        return Graded(
            file=task.case.file,
            line=1,
            id=name,
            verdict="pass" if found else "fail",
            score=float(found),
            reason="",
            answer=f"{draw_of} of the {side} to the question of the case {name}",
        )

    return asyncio.run(pull_request(cases, trials, trial))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a row per suite; return 1 if one without a change is above the limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pulls", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    allowed = LIMIT + 3 * sqrt(LIMIT * (1 - LIMIT) / options.pulls)
    print("| noise | trials repeat | cases | broken | called worse | further trials |")
    print("|---|---|--:|--:|--:|--:|")
    worst = 0.0
    for name, draw in NOISES.items():
        for word, other in OTHER.items():
            for cases, broken in ROWS:
                chance = random.Random(f"{options.seed} {name} {word} {cases} {broken}")
                found = [pulled(chance, draw, cases, broken, other) for _ in range(options.pulls)]
                share = sum(each.alarm for each in found) / options.pulls
                calls = sum(each.further_trials for each in found) / options.pulls
                worst = max(worst, share) if not broken else worst
                print(
                    f"| {name} | {word} | {cases} | {broken} | {share:.3f} | {calls:.1f} |",
                    flush=True,
                )
    print(f"\nAt most {worst:.3f} of the pull requests without a change; allowed {allowed:.3f}.")
    return int(worst > allowed)


if __name__ == "__main__":
    sys.exit(main())
