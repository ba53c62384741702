"""How often does the rule call a quiet pull request red, and how often does it find a break?

    python benchmarks/against/simulate.py [--seed 1] [--size 1] [--exact]

The rule is the program's own (`services/run/asking.py`), with a target that draws its answers. The
noise is of this file: the logit of a case is 2 + 1.5 t with t of Student's distribution with
three degrees of freedom, so that most cases pass nearly always and some are a coin. A broken case
passed in nineteen of twenty answers before, and its logit here is -3 + t: it passes now and then.
`--size` scales the number of pull requests, 600 per cell of the first table. `--exact` prints the
rates of the first tables by integration, from the rule's own definition and without its code: in
this noise, and in one with fewer cases that pass now and then.
"""

import argparse
import asyncio
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import cosh, exp, gamma, log, pi, sinh, sqrt
from pathlib import Path
from random import Random
from statistics import fmean, median

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from rubric_ci.gate.comparison import rule
from rubric_ci.grading.resolve import Task
from rubric_ci.services.run.asking import Pair, Request, settle
from rubric_ci.values.comparison import RegressionConfig
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.results import CaseResult, Errored, Graded, Trial
from rubric_ci.values.targets import CliTarget

TARGET = CliTarget(name="t", command_template="true")
SPAN = Span(line=1, column=1, end_line=1, end_column=1)
CONFIG = RegressionConfig()
SCORES = {"pass": 1.0, "fail": 0.0}

Draw = Callable[[int, bool, int], bool]
"""Return whether an answer passes: case, whether it is the base's, number of the answer."""


def sigmoid(x: float) -> float:
    return 1 / (1 + exp(-x)) if x > -700 else 0.0


def student(random: Random) -> float:
    """Return a draw of Student's t with three degrees of freedom."""
    normal = random.gauss
    return normal(0, 1) / sqrt(sum(normal(0, 1) ** 2 for _ in range(3)) / 3)


def difficulty(random: Random) -> float:
    return 2 + 1.5 * student(random)


def graded(name: str, passes: Sequence[bool]) -> Graded:
    """Return a case with these answers, and their lower median."""
    good = sorted(passes)[(len(passes) - 1) // 2]
    verdict = "pass" if good else "fail"
    trials = (
        tuple(Trial(verdict="pass" if p else "fail", score=float(p)) for p in passes)
        if len(passes) > 1
        else ()
    )
    return Graded(
        file="a", line=1, id=name, verdict=verdict, score=SCORES[verdict], reason="", trials=trials
    )


ONCE = {(n, p): graded(f"c{n}", [p]) for n in range(500) for p in (True, False)}
TASKS = {
    f"c{n}": Task(case=EvalCase(id=f"c{n}", file="a", span=SPAN), target=TARGET) for n in range(500)
}


@dataclass
class Noise:
    """A change of both sides, as the rule asks it."""

    draw: Draw
    random: Random
    rows: int
    errors: float = 0.0
    asked: int = 0
    config: RegressionConfig = CONFIG
    can_ask: bool = True
    live: bool = True

    async def ask(self, requests: Sequence[Request]) -> Sequence[CaseResult | None]:
        """Return one further result per request."""
        self.asked += len(requests)
        return [self._result(each) for each in requests]

    def _result(self, request: Request) -> CaseResult:
        name = request.task.case.id
        if self.errors and self.random.random() < self.errors:
            return Errored(file="a", line=1, id=name, reason="429")
        n = int(name[1:])
        return ONCE[n, self.draw(n, request.is_base, request.number)]


@dataclass(frozen=True)
class Outcome:
    """What one pull request showed."""

    broken: frozenset[str]
    errored: bool
    asked: int
    together: bool


def pull_request(noise: Noise, *, trials: int = 1, kept: int = 0, whole: bool = False) -> Outcome:
    """Return what the rule finds; `kept`: answers of a base that cannot be asked."""
    pairs = {}
    for n in range(noise.rows):
        name = f"c{n}"
        here = [noise.draw(n, False, i) for i in range(trials)]
        then = [noise.draw(n, True, i) for i in range(kept or trials)]
        pairs["a", name] = Pair(
            head_task=TASKS[name],
            base_task=None if kept else TASKS[name],
            head=ONCE[n, here[0]] if trials == 1 else graded(name, here),
            base=ONCE[n, then[0]] if len(then) == 1 else graded(name, then),
        )
    found = asyncio.run(settle(noise, pairs))
    fell = whole and _together(noise, pairs)
    return Outcome(
        broken=frozenset(
            key[1]
            for key, each in found.compared.items()
            if each.change == "broken" and key not in found.errored
        ),
        errored=bool(found.errored),
        asked=noise.asked,
        together=fell,
    )


def _together(noise: Noise, pairs: Mapping[tuple[str, str], Pair]) -> bool:
    both = [(pair.head, pair.base) for pair in pairs.values()]
    found = rule.find_together(
        [(h, b) for h, b in both if isinstance(h, Graded) and isinstance(b, Graded)]
    )
    if found is None or not found.worse:
        return False
    again = [(h, ONCE[n, noise.draw(n, True, 99)]) for n, (h, _) in enumerate(both)]
    return rule.is_worse_together([(h, b) for h, b in again if isinstance(h, Graded)])[0]


def independent(
    cases: int, random: Random, *, broken: int | None = None, loss: float = 0.0, coins: float = 0.0
) -> Draw:
    """Return answers by chance, each of its own."""
    logits = [difficulty(random) for _ in range(cases)]
    if broken is not None:
        while sigmoid(logits[broken]) < 0.95:
            logits[broken] = difficulty(random)
    left = sigmoid(student(random) - 3)  # how often a broken case still passes
    flips = {n for n in range(cases) if random.random() < coins}

    def draw(n: int, is_base: bool, _: int) -> bool:
        if n == broken and not is_base:
            return random.random() < left
        if n in flips:
            return random.random() < 0.5
        return random.random() < sigmoid(logits[n] - (0 if is_base else loss))

    return draw


def at_zero(cases: int, random: Random, *, ratio: float, broken: int | None = None) -> Draw:
    """Return answers at temperature 0: one for each version and message.

    A variant moves the logit by a draw of the logistic distribution, a version by `ratio` times as
    much for all messages.
    """
    logits = [difficulty(random) for _ in range(cases)]
    known: dict[tuple[int, bool, int], bool] = {}
    stable: dict[tuple[int, bool], float] = {}
    left = sigmoid(student(random) - 3)

    def noise() -> float:
        u = random.random()
        return -_logit(min(max(u, 1e-12), 1 - 1e-12))

    def draw(n: int, is_base: bool, number: int) -> bool:
        if n == broken and not is_base:
            return random.random() < left
        if (n, is_base, number) not in known:
            version = stable.setdefault((n, is_base), ratio * noise())
            known[n, is_base, number] = logits[n] + version + noise() > 0
        return known[n, is_base, number]

    if broken is not None:
        logits[broken] = 6.0
    return draw


def _logit(p: float) -> float:
    return log(p / (1 - p))


def lenient(cases: int, random: Random, shift: float = 1.5) -> Draw:
    """Return marks of a judge that turns lenient in the first round, which asks sides in turn."""
    logits = [difficulty(random) for _ in range(cases)]

    def draw(n: int, _: bool, number: int) -> bool:
        late = number > 0 or n >= cases // 2
        return random.random() < sigmoid(logits[n] + shift * late)

    return draw


Shares = Sequence[tuple[float, float]]
"""How often cases pass, each with its weight."""


def shares(centre: float, scale: float, freedom: int) -> Shares:
    """Return cases whose logits are `centre` + `scale` t, of Student's t."""
    factor = gamma((freedom + 1) / 2) / sqrt(freedom * pi) / gamma(freedom / 2)
    found = []
    for step in range(-2000, 2001):
        t = sinh(step / 200)
        density = factor * (1 + t * t / freedom) ** (-(freedom + 1) / 2)
        found.append((sigmoid(centre + scale * t), density * cosh(step / 200) / 200))
    return found


def falls(passes: float, k: int, kept: int) -> float:
    """Return how probably a case falls here: its first answer, and all but one of k + 1."""
    fails = 1 - passes
    if kept == 1:  # none of 2k may hold
        return fails ** (2 * k)
    return fails * (fails**k + k * passes * fails ** (k - 1))


def holds(passes: float, k: int, kept: int) -> float:
    """Return how probably a case held before; of five kept answers or a side to ask one may not."""
    if kept in {1, 3}:
        return passes**kept
    n, firsts = (k, passes) if kept == 0 else (5, 1.0)
    return firsts * (passes**n + n * (1 - passes) * passes ** (n - 1))


def print_exact() -> None:
    """Print the rates of the two noises."""
    wide, mild = shares(2, 1.5, 3), shares(2.25, 1, 2)
    steady = [(p, weight) for p, weight in wide if p >= 0.95]
    noises: dict[str, tuple[Shares, Shares, Shares]] = {  # quiet cases, a broken one before, here
        "2 + 1.5 t, t of 3": (wide, steady, shares(-3, 1, 3)),
        "2.25 + t, t of 2": (mild, [(0.92, 1)], [(0.05, 1)]),
    }
    print(
        "| logit of a case | kept | cases | quiet red | one broken found |\n|:--|--:|--:|--:|--:|"
    )
    for name, (quiet, before, here) in noises.items():
        for kept in (0, 1, 3, 5):
            for cases in (20, 60, 200) if kept else (5, 20, 60, 200, 500):
                k = rule.times(cases)
                one = sum(w * falls(p, k, kept) * holds(p, k, kept) for p, w in quiet)
                held = sum(w * holds(p, k, kept) for p, w in before) / sum(w for _, w in before)
                found = held * sum(w * falls(p, k, kept) for p, w in here)
                red = 1 - (1 - one) ** cases
                print(f"| {name} | {kept or 'asked'} | {cases} | {red:.3f} | {found:.2f} |")


@dataclass(frozen=True)
class Rates:
    """The shares of pull requests that are red, that find case 0 and that have an errored case."""

    red: float
    found: float
    errored: float
    asked: float
    together: float

    @classmethod
    def of(cls, outcomes: Sequence[Outcome]) -> "Rates":
        return cls(
            red=fmean(bool(each.broken) for each in outcomes),
            found=fmean("c0" in each.broken for each in outcomes),
            errored=fmean(each.errored for each in outcomes),
            asked=median(each.asked for each in outcomes),
            together=fmean(each.together for each in outcomes),
        )


def run(count: int, cases: int, random: Random, make: Callable[[], Draw], **facts: object) -> Rates:
    errors = float(str(facts.pop("errors", 0.0)))
    return Rates.of(
        [
            pull_request(Noise(draw=make(), random=random, rows=cases, errors=errors), **facts)
            for _ in range(count)
        ]
    )


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--size", type=float, default=1.0)
    options.add_argument("--exact", action="store_true")
    given = options.parse_args()
    if given.exact:
        print_exact()
        return
    random, count = Random(given.seed), round(600 * given.size)
    print("| compared cases | quiet red | one broken found | further requests, median |")
    print("|--:|--:|--:|--:|")
    for cases in (5, 20, 60, 200, 500):
        n = count if cases <= 60 else count // 2
        quiet = run(n * 2, cases, random, partial(independent, cases, random))
        one = run(n, cases, random, partial(independent, cases, random, broken=0))
        print(f"| {cases} | {quiet.red:.3f} | {one.found:.2f} | {quiet.asked:g} |", flush=True)
    print("\n| at temperature 0, version to variant | quiet red | one broken found |")
    print("|:--|--:|--:|")
    for ratio in (0, 1, 3):
        for cases in (20, 60):
            quiet = run(count, cases, random, partial(at_zero, cases, random, ratio=ratio))
            one = run(
                count // 2, cases, random, partial(at_zero, cases, random, ratio=ratio, broken=0)
            )
            print(f"| {ratio} : 1, {cases} cases | {quiet.red:.3f} | {one.found:.2f} |", flush=True)
    print("\n| kept answers of a side that cannot be asked | cases | quiet red | found |")
    print("|--:|--:|--:|--:|")
    for kept in (1, 3, 5):
        for cases in (20, 60, 200):
            n = count if cases < 200 else count // 2
            quiet = run(n, cases, random, partial(independent, cases, random), kept=kept)
            one = run(
                n // 2, cases, random, partial(independent, cases, random, broken=0), kept=kept
            )
            print(f"| {kept} | {cases} | {quiet.red:.3f} | {one.found:.2f} |", flush=True)
    print("\n| 20 cases | quiet red | found | a case errored |")
    print("|:--|--:|--:|--:|")
    for name, make, facts in _others(random):
        quiet = run(count * 2, 20, random, make, **facts)
        one = run(count, 20, random, partial(independent, 20, random, broken=0), **facts)
        found = f"{one.found:.2f}" if "judge" not in name and "coin" not in name else ""
        print(f"| {name} | {quiet.red:.3f} | {found} | {quiet.errored:.3f} |", flush=True)
    print("\n| all cases together | quiet | a loss of 1.2 logit found |")
    print("|--:|--:|--:|")
    for cases in (100, 200, 500):
        n = count // 4
        quiet = run(n, cases, random, partial(independent, cases, random), whole=True)
        lost = run(n // 2, cases, random, partial(independent, cases, random, loss=1.2), whole=True)
        print(f"| {cases} | {quiet.together:.3f} | {lost.together:.2f} |", flush=True)


def _others(random: Random) -> list[tuple[str, Callable[[], Draw], dict[str, object]]]:
    plain = partial(independent, 20, random)
    return [
        ("3 trials each", plain, {"trials": 3}),
        ("10 % errors", plain, {"errors": 0.1}),
        ("30 % errors", plain, {"errors": 0.3}),
        ("60 % errors", plain, {"errors": 0.6}),
        ("30 % of the cases are coins", partial(independent, 20, random, coins=0.3), {}),
        ("a judge that turns lenient", partial(lenient, 20, random), {}),
    ]


if __name__ == "__main__":
    main()
