"""Simulate pull requests without a change whose target answers differently on each call.

    python benchmarks/against/simulate.py [--pulls 200] [--seed 0]

Both sides are graded by chance, by the code of `run --against`. A false alarm is a pull request
with a case that is called broken, or a drop of all cases together. The exit code is 1 if a row has
more than 5 of 100, plus three binomial standard errors. The last rows have real breaks, and drops
that are spread over all cases, to show what is found.
"""

import argparse
import asyncio
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from pathlib import Path
from typing import Any, cast

from rubric_ci.grading.resolve import Task
from rubric_ci.grading.trial_results import median_trial
from rubric_ci.services.run.base_comparison import compare
from rubric_ci.services.run.sides import BaseSide, Sides
from rubric_ci.values.changes import Base
from rubric_ci.values.comparison import RegressionConfig
from rubric_ci.values.config import Endpoint, LlmTarget
from rubric_ci.values.context import RunContext
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.results import CaseResult, Graded
from rubric_ci.values.scoring import Verdict

TARGET = LlmTarget(name="default", endpoint=Endpoint(model="openai/any"))
LIMIT = 0.05


class Worktree:
    """No command is started."""

    def root(self) -> Path:
        raise AssertionError


def main() -> int:
    """Print a row per suite; return 1 if one is above the limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pulls", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    allowed = LIMIT + 3 * sqrt(LIMIT * (1 - LIMIT) / options.pulls)
    print("| cases | P(pass) | P(borderline) | trials | broken | with an alarm | further trials |")
    print("|--:|--:|--:|--:|--:|--:|--:|")
    worst = 0.0
    for cases in (1, 5, 20, 100):
        for passes, borderline in ((0.5, 0.0), (0.8, 0.0), (1 / 3, 1 / 3)):
            for trials in (1, 3):
                share = row(options.pulls, chance, cases, (passes, borderline), trials, broken=0)
                worst = max(worst, share)
    for broken in (1, 5):
        row(options.pulls, chance, 20, (0.95, 0.0), 1, broken=broken)
    for cases, head, trials in ((50, 0.8, 1), (200, 0.9, 1), (200, 0.8, 1), (200, 0.8, 3)):
        row(options.pulls, chance, cases, (0.95, 0.0), trials, broken=0, head=head)
    print(f"\nAt most {worst:.3f} of the pull requests without a change; allowed {allowed:.3f}.")
    return int(worst > allowed)


def row(
    pulls: int,
    chance: random.Random,
    cases: int,
    odds: tuple[float, float],
    trials: int,
    *,
    broken: int,
    head: float | None = None,
) -> float:
    """Print and return the share of pull requests that are called worse."""
    alarms, asked = 0, 0
    for _ in range(pulls):
        here = None if head is None else (head, 0.0)
        found, more = asyncio.run(pull(chance, cases, odds, trials, broken, here))
        alarms += found
        asked += more
    share = alarms / pulls
    print(
        f"| {cases} | {odds[0]:.2f}{'' if head is None else f' → {head:.2f}'} | {odds[1]:.2f} "
        f"| {trials} | {broken} | {share:.3f} "
        f"| {asked / pulls:.1f} |"
    )
    return share


@dataclass(frozen=True)
class Pulled:
    """The results of a simulated pull request."""

    broken: frozenset[str]
    drop: bool  # of all cases together, which counts
    further_trials: int  # of both sides together

    @property
    def alarm(self) -> bool:
        """Whether the change is called worse."""
        return self.drop or bool(self.broken)


async def pull(
    chance: random.Random,
    cases: int,
    odds: tuple[float, float],
    trials: int,
    broken: int,
    head: tuple[float, float] | None = None,
) -> tuple[bool, int]:
    """Return whether the change is called worse, and the number of further trials."""

    def drawn(task: Task, *, is_head: bool) -> Graded:
        own_odds, bad = (head or odds, broken) if is_head else (odds, 0)
        return trial(chance, task, own_odds, bad)

    found = await pull_request(cases, trials, drawn)
    return found.alarm, found.further_trials


async def pull_request(
    cases: int,
    trials: int,
    drawn: Callable[..., Graded],
    kept: Callable[[Task], Graded] | None = None,
) -> Pulled:
    """Return the conclusion of the code of `run --against` about trials that are drawn.

    `kept`: draws the first answers of the base, which the cache has; None: it has none.
    """
    every = [Task(case=case(n), target=TARGET) for n in range(cases)]
    here = RunContext(call_model=cast(Any, None), root=Path(), environment={})
    asked = 0

    async def grade(
        tasks: Sequence[Task], context: RunContext, trials: int
    ) -> tuple[CaseResult, ...]:
        nonlocal asked
        asked += len(tasks) * trials
        is_head = context.side.root is None  # which has no worktree
        if kept and not is_head and context.side.reuse and not context.trial:
            return tuple(replace(kept(task), answer_reused=True) for task in tasks)
        return tuple(
            median_trial([drawn(task, is_head=is_head) for _ in range(trials)]) for task in tasks
        )

    base = BaseSide(
        base=Base(commit="0" * 40, origin="the base"),
        committed_at="",
        tasks={(task.case.file, task.case.id): task for task in every},
        worktree=cast(Any, Worktree()),
        read=lambda _: None,
        dependencies=lambda *_: None,
    )
    sides = Sides(base=base, context=here, grade=grade, trials=trials, config=RegressionConfig())
    outcome = await compare(sides, "main", every, grade(every, here, trials))
    drop = outcome.against.drop if outcome.against else None
    return Pulled(
        broken=frozenset(case.id for case in outcome.results if case.change == "broken"),
        drop=bool(drop and drop.confirmed),
        further_trials=asked - 2 * cases * trials,
    )


def case(number: int) -> EvalCase:
    span = Span(line=1, column=1, end_line=1, end_column=2)
    return EvalCase(id=str(number), file="a.yaml", span=span)


def trial(chance: random.Random, task: Task, odds: tuple[float, float], bad: int) -> Graded:
    """Return a verdict by chance; the first `bad` cases always fail."""
    drawn = 1.0 if int(task.case.id) < bad else chance.random()
    passes, borderline = odds
    verdict: Verdict = "fail"
    if drawn < passes:
        verdict = "pass"
    elif drawn < passes + borderline:
        verdict = "borderline"
    score = {"pass": 1.0, "borderline": 0.7, "fail": 0.0}[verdict]
    return Graded(
        file=task.case.file, line=1, id=task.case.id, verdict=verdict, score=score, reason=""
    )


if __name__ == "__main__":
    sys.exit(main())
