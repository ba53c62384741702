"""Findings and requests of the decision about a pull request, compared with simpler rules.

    python -m benchmarks.against.ladder [--pulls 400] [--seed 0] [--write]

For 10 to 1,000 cases with 1, 3 and 5 first trials in three noises of `breaks.py`, pull requests
that change nothing, that break one case, and that lower every case (logit - 1.2, as from 0.95 to
0.85). The decision is made by `replica.py`. `--write` renews the tables of `docs/ladder.md`. The
exit code is 1 if quiet pull requests are red more often than 5 of 100, plus three binomial standard
errors.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import comb, sqrt
from pathlib import Path
from random import Random
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.against.breaks import BROKEN, NOISES, SOUND
from benchmarks.against.replica import Case, Decision, Side, bernoulli, confirm, p_value
from benchmarks.against.simulate import LIMIT
from rubric_ci.gate.comparison import verdicts
from rubric_ci.text.statistics import significance
from rubric_ci.values.comparison import RegressionConfig

Chances: TypeAlias = NDArray[np.float64]

PAGE: Final = Path(__file__).parents[2] / "docs/ladder.md"
START, END = "<!-- ladder: start -->", "<!-- ladder: end -->"
CASES: Final = (10, 50, 200, 1000)
TRIALS: Final = (1, 3, 5)
SHOWN: Final = ("u-shape", "heavy", "copula")
SPREAD: Final = 1.2  # logits
CONFIG: Final = RegressionConfig()
MANY, TRIED = 3000, 400  # cases of the pool of a noise, and trials that measure each


@dataclass(frozen=True)
class Pull:
    """A pull request: the verdicts of the first trials, and what each rule says."""

    own: Decision
    any_fails: bool  # a case that passes at the base fails here
    mcnemar: bool  # more cases got worse than better, sign test at 0.05
    three: bool  # such a case fails in three trials of three
    three_calls: int


@cache
def pool(noise: str) -> Chances:
    """Return how often cases of a noise pass."""
    chance = Random(noise)
    draws = [NOISES[noise](chance) for _ in range(MANY)]
    return np.array([sum(passes() for _ in range(TRIED)) / TRIED for passes in draws])


def pulled(random: np.random.Generator, head: Chances, base: Chances, trials: int) -> Pull:
    """Return the decision of each rule about one pull request."""
    here, there = random.binomial(trials, head), random.binomial(trials, base)
    own = Decision()
    differing = [int(d) / significance.STEPS for d in here - there if d]  # sign flips know no unit
    p_of_mean = significance.p_value(differing) / 2 if sum(differing) < 0 else 1.0
    own.drop = p_of_mean <= verdicts.MEAN_SHARE * CONFIG.false_alarms
    passes, passed = 2 * here > trials, 2 * there > trials
    suspects = np.flatnonzero(passed & ~passes)
    own.suspected = len(suspects)
    chance = Random(int(random.integers(2**31)))
    if len(suspects) and not (own.drop and 2 * len(suspects) > len(head)):
        cases = {
            int(n): Case(
                head=Side(draw=bernoulli(chance, head[n]), passed=int(here[n]), asked=trials),
                base=Side(draw=bernoulli(chance, base[n]), passed=int(there[n]), asked=trials),
            )
            for n in suspects
        }
        confirm(cases, list(cases), trials, verdicts.for_cases(CONFIG), own)
    fixed = int(np.count_nonzero(passes & ~passed))
    again = random.binomial(2, head[suspects])
    return Pull(
        own=own,
        any_fails=bool(len(suspects)),
        mcnemar=sign_test(len(suspects), fixed) <= LIMIT,
        three=bool(np.any(again == 0)) if trials == 1 else bool(np.any(here[suspects] == 0)),
        three_calls=2 * len(suspects) if trials == 1 else 0,
    )


@cache
def sign_test(worse: int, better: int) -> float:
    """Return the one-sided p-value of so many cases for the worse (McNemar, exact)."""
    every = worse + better
    return sum(comb(every, k) for k in range(worse, every + 1)) / 2**every


def oracle(noise: str) -> float:
    """Return how often one who knows the case that may be broken finds it.

    Six trials of either side, and one test at 0.05.
    """
    sound = pool(noise)[pool(noise) >= SOUND]
    found = 0.0
    for here in range(7):
        for there in range(7):
            if p_value(here, 6, there, 6) <= LIMIT:
                at_base = comb(6, there) * sound**there * (1 - sound) ** (6 - there)
                at_head = comb(6, here) * BROKEN**here * (1 - BROKEN) ** (6 - here)
                found += float(at_base.mean()) * at_head
    return found


def lowered(passes: Chances) -> Chances:
    """Return the chances with logits that are lower."""
    inside = np.clip(passes, 1e-9, 1 - 1e-9)
    odds = inside / (1 - inside) * np.exp(-SPREAD)
    return odds / (1 + odds)


@dataclass(frozen=True)
class Row:
    """The shares of pull requests that are red, and the calls of one."""

    cases: int
    trials: int
    quiet: dict[str, float]
    one: dict[str, float]  # one case is broken
    spread: dict[str, float]
    calls: float  # further trials of a quiet pull request, both sides

    @property
    def text(self) -> str:
        """The row of the table."""
        shares = [f"{each[rule]:.2f}" for rule in RULES for each in (self.quiet, self.one)]
        first = (
            f"| {self.cases:,} x {self.trials} | {self.cases * self.trials:,} + {self.calls:.0f}"
        )
        own, *others = zip(shares[::2], shares[1::2], strict=True)
        cells = [*own, f"{self.spread['rubric-ci']:.2f}", *(f"{q} / {o}" for q, o in others)]
        return f"{first} | {' | '.join(cells)} |"


RULES: Final = ("rubric-ci", "any", "mcnemar", "three")


def row(noise: str, cases: int, trials: int, pulls: int, seed: int) -> Row:
    """Simulate one row."""
    random = np.random.default_rng([seed, cases, trials, SHOWN.index(noise)])
    quiet: list[Pull] = []
    one: list[Pull] = []
    spread: list[Pull] = []
    for _ in range(pulls):
        base = random.choice(pool(noise), cases)
        quiet.append(pulled(random, base, base, trials))
        sound = np.flatnonzero(base >= min(SOUND, base.max()))
        broken = base.copy()
        broken[random.choice(sound)] = BROKEN
        one.append(pulled(random, broken, base, trials))
        spread.append(pulled(random, lowered(base), base, trials))
    calls = sum(each.own.calls for each in quiet) / pulls
    shares = [_shares(each) for each in (quiet, one, spread)]
    return Row(cases, trials, *shares, calls)


def _shares(pulls: Sequence[Pull]) -> dict[str, float]:
    found = {
        "rubric-ci": sum(each.own.alarm for each in pulls),
        "any": sum(each.any_fails for each in pulls),
        "mcnemar": sum(each.mcnemar for each in pulls),
        "three": sum(each.three for each in pulls),
    }
    return {rule: count / len(pulls) for rule, count in found.items()}


HEAD: Final = """\
| cases x first trials | answers + further trials | quiet | one broken | spread | any fails | \
McNemar | 3 of 3 |
|:--|--:|--:|--:|--:|--:|--:|--:|"""


def tables(pulls: int, seed: int) -> Iterator[tuple[str, list[Row]]]:
    """Yield each noise and its rows."""
    for noise in SHOWN:
        # a suite of 1,000 cases takes as long as five of 200
        rows = [
            row(noise, cases, trials, max(50, pulls * 200 // max(200, cases)), seed)
            for cases in CASES
            for trials in TRIALS
        ]
        yield noise, rows


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; return 1 if quiet pull requests are above the limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pulls", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help="into docs/ladder.md")
    options = parser.parse_args(arguments)
    worst, blocks = 0.0, []
    for noise, rows in tables(options.pulls, options.seed):
        lines = [f"### {noise}", f"The oracle finds {oracle(noise):.2f}.", "", HEAD]
        block = "\n".join([*lines, *(each.text for each in rows)])
        print(block, flush=True)
        blocks.append(block)
        worst = max(worst, *(each.quiet["rubric-ci"] for each in rows))
    if options.write:
        before, _, rest = PAGE.read_text("utf-8").partition(START)
        _, _, after = rest.partition(END)
        text = "\n\n".join(blocks)
        PAGE.write_text(f"{before}{START}\n{text}\n{END}{after}", "utf-8", newline="\n")
    allowed = LIMIT + 3 * sqrt(LIMIT * (1 - LIMIT) / options.pulls)
    print(f"\nAt most {worst:.3f} of the quiet pull requests; allowed {allowed:.3f}.")
    return int(worst > allowed)


if __name__ == "__main__":
    sys.exit(main())
