"""The decision about a pull request for cases that pass or fail, without files, tasks or waiting.

A simulation of 1,000 cases with the code of `run --against` takes seconds; this takes a hundredth.
The tests, levels and orders are the product's, which are called where they are functions of
numbers; `tests/services/run/test_replica.py` compares both on the same draws.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import Final

from rubric_ci.gate.comparison import verdicts
from rubric_ci.services.run.mean_drop import MOST
from rubric_ci.text.statistics import significance
from rubric_ci.values.comparison import RegressionConfig

CONFIG: Final = RegressionConfig()
_WORST, _BEST = (0.0, 0.0), (2.0, 0.0)


@dataclass
class Side:
    """The trials of a case on one side; True: it passes."""

    draw: Callable[[], bool]
    passed: int = 0
    asked: int = 0

    def ask(self) -> None:
        """Draw one trial."""
        self.passed += self.draw()
        self.asked += 1

    @property
    def passes(self) -> bool:
        """The verdict: of the lower median trial."""
        return 2 * self.passed > self.asked

    @property
    def mean(self) -> float:
        """The mean verdict, in tiers."""
        return 2.0 * self.passed / self.asked


@dataclass
class Case:
    """A case, drawn by chance; `kept`: its first answers at the base are from the cache."""

    head: Side
    base: Side
    today: Callable[[], bool] | None = None  # what the base answers now; None: it is not cached


@dataclass
class Decision:
    """The results of a pull request."""

    broken: list[int] = field(default_factory=list)  # numbers of the cases
    suspected: int = 0  # by the first trials
    drop: bool = False
    calls: int = 0  # beyond the first trials

    @property
    def alarm(self) -> bool:
        """Whether the change is called worse."""
        return self.drop or bool(self.broken)


def bernoulli(chance: Random, passes: float) -> Callable[[], bool]:
    """Return a function that draws a trial."""
    return lambda: chance.random() < passes


def decide(cases: Sequence[Case], trials: int, config: RegressionConfig = CONFIG) -> Decision:
    """Return the conclusion of `run --against`."""
    for case in cases:
        for _ in range(trials):
            case.head.ask()
            case.base.ask()
    found = Decision()
    level = verdicts.MEAN_SHARE * config.false_alarms
    if mean_p_value(cases) <= level:
        found.drop = _of_today(cases, level, found)
    suspects = [n for n, case in enumerate(cases) if case.base.passes and not case.head.passes]
    found.suspected = len(suspects)
    if suspects and not (found.drop and 2 * len(suspects) > len(cases)):
        confirm(cases, suspects, trials, verdicts.for_cases(config), found)
    return found


def mean_p_value(cases: Sequence[Case]) -> float:
    """Return the p-value of all cases together."""
    differences = [round(case.head.mean - case.base.mean, 6) for case in cases]
    return significance.p_value(differences) / 2 if sum(differences) < 0 else 1.0


def _of_today(cases: Sequence[Case], level: float, found: Decision) -> bool:
    """Return True if a drop counts with fresh answers of the base."""
    cached = [case for case in cases if case.today]
    if not cached:
        return True
    drawn = cached if len(cached) <= MOST else Random(0).sample(cached, MOST)
    asked = [_asked_again(case) for case in drawn]
    found.calls += len(drawn)
    others = [case for case in cases if not case.today]
    if mean_p_value([*others, *asked]) <= level:
        return True
    for case in cached:
        if all(case is not one for one in drawn):
            asked.append(_asked_again(case))
            found.calls += 1
            drawn = [*drawn, case]
    for case, again in zip(drawn, asked, strict=True):
        case.base = again.base
    return mean_p_value(cases) <= level


def _asked_again(case: Case) -> Case:
    assert case.today
    base = Side(draw=case.base.draw)
    base.passed, base.asked = int(case.today()), 1
    return Case(head=case.head, base=base)


def confirm(
    cases: Sequence[Case] | Mapping[int, Case],
    suspects: Sequence[int],
    trials: int,
    config: RegressionConfig,
    found: Decision,
    kept: int = 0,
) -> None:
    """Ask the suspects again, and add those that are broken.

    `kept`: further trials of the base that are in the cache, which come first and cost nothing.
    """
    level = verdicts.level_of(len(suspects), trials, config)
    most = verdicts.most_trials(len(suspects), trials, config)
    for number in suspects:
        head, base = cases[number].head, cases[number].base
        start = head.asked, base.asked
        while True:
            left = most - (head.asked - start[0]), most - (base.asked - start[1])
            if not any(left) or not is_undecided(head, base, level, left):
                break
            free = base.asked - start[1] < min(kept, most)
            side = head if not free and _asks_head(head, base, left) else base
            side.ask()
            found.calls += not free
        if p_value(head.passed, head.asked, base.passed, base.asked) <= level:
            found.broken.append(number)


def is_undecided(head: Side, base: Side, level: float, left: tuple[int, int]) -> bool:
    """Return whether the trials that are left can confirm and refute a break."""
    here, there = head.asked + left[0], base.asked + left[1]
    may = p_value(head.passed, here, base.passed + left[1], there) <= level
    return may and not p_value(head.passed + left[0], here, base.passed, there) <= level


def _asks_head(head: Side, base: Side, left: tuple[int, int]) -> bool:
    if not all(left):
        return not left[1]
    here = (
        (head.passed + 1) / (head.asked + 2) if head.passed < head.asked else 1 / (head.asked + 2)
    )
    there = (
        (base.asked - base.passed + 1) / (base.asked + 2) if base.passed else 1 / (base.asked + 2)
    )
    return left[0] >= left[1] if here == there else here > there


@cache
def p_value(passed: int, asked: int, passed_at_base: int, asked_at_base: int) -> float:
    """Return the p-value of one case."""
    head = [_BEST] * passed + [_WORST] * (asked - passed)
    base = [_BEST] * passed_at_base + [_WORST] * (asked_at_base - passed_at_base)
    return significance.p_value_below(head, base)
