"""How often a comparison is worse although nothing changed, and how much of a real change it finds.

Each night is a suite of cases with noisy trials, compared with a baseline by the code of
`rubric-ci compare`. The rules differ in the trials of both sides:

- `k and k trials`: without a reference, k trials in the baseline and in the head;
- `Holm, 8 and 8`: the rank-sum test with Holm's correction at 8 trials, no further trials;
- `no correction`: the reference, every suspect tested at half of the budget on its own;
- `reference, k`: 15 trials in the reference, k in the head, 10 and then 20 of suspects.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import product
from math import sqrt
from random import Random
from statistics import fmean

from rubric_ci.gate.comparison import alarm_budget
from rubric_ci.gate.comparison.compared import compare
from rubric_ci.gate.comparison.reference import Baseline
from rubric_ci.grading.engine import STAGES
from rubric_ci.text.statistics import significance
from rubric_ci.values.comparison import RegressionConfig
from rubric_ci.values.gate import GateInfo
from rubric_ci.values.report import RunReport, run_verdict, totals
from rubric_ci.values.results import Graded, Trial
from rubric_ci.values.scoring import DEFAULT_THRESHOLDS, Verdict, verdict
from rubric_ci.values.trials import tier

CONFIG = RegressionConfig()
CLUSTER = 5  # cases per cluster
ICC = 0.5  # correlation of the noise of two cases of a cluster
HEADS = (1, 3, 5)  # trials of a run that is compared with a reference
ERRORS = 3  # standard errors by which a rate may exceed the budget

Noise = Callable[[float, bool, Callable[[], float]], Trial]
"""From a case's own level 0..1, whether it is broken, and uniform draws: one trial."""


def flips(level: float, broken: bool, draw: Callable[[], float], most: float = 0.2) -> Trial:
    """The verdict flips with a probability of 0.02 to `most`, by case; one case of five fails."""
    passes = (level * 997 % 1 > 0.2) != broken
    if draw() < 0.02 + (most - 0.02) * level:
        passes = not passes
    return _trial(1.0 if passes else 0.0, gated=not passes)


def many_flips(level: float, broken: bool, draw: Callable[[], float]) -> Trial:
    return flips(level, broken, draw, most=0.3)


def criteria(level: float, broken: bool, draw: Callable[[], float]) -> Trial:
    """Each of four criteria flips like that; two of them gate, and a broken case misses one."""
    chance = 0.02 + 0.18 * level
    met = [(n != 0 or not broken) != (draw() < chance) for n in range(4)]
    return _trial(sum(met) / 4, gated=not (met[0] and met[1]))


def marks(level: float, broken: bool, draw: Callable[[], float]) -> Trial:
    """Three marks of 0 to 10 with standard deviation 0.7; marks of a broken case are 2 lower."""
    centre = 6.5 + 3 * level - 2 * broken
    found = [round(centre + 0.7 * _normal(draw)) for _ in range(3)]
    return _trial(fmean(min(10, max(0, mark)) for mark in found) / 10, gated=False)


NOISES: dict[str, Noise] = {"A": flips, "A.3": many_flips, "B": criteria, "C": marks}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One row of the tables."""

    cases: int
    noise: str
    clustered: bool
    broken: float  # share of the cases
    nights: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """The results of one rule in one night."""

    red: bool
    flagged: frozenset[int]  # the cases that count as broken
    answers: float  # per case


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The results of the nights of a cell."""

    red: float  # share of the nights
    flagged: float  # share of the broken cases
    answers: float  # per case and night


class Suite:
    """The cases of one suite: each has its level, and clusters share a part of their noise."""

    def __init__(self, cell: Cell, random: Random) -> None:
        self.noise = NOISES[cell.noise]
        self.random = random
        self.size = CLUSTER if cell.clustered else 1
        self.levels = [random.random() for _ in range(cell.cases)]
        self.broken = set(random.sample(range(cell.cases), round(cell.broken * cell.cases)))

    def night(self, trials: int, *, head: bool) -> list[list[Trial]]:
        """Return the trials of every case; only the head has broken cases."""
        shared = [
            [[self.random.random() for _ in range(6)] for _ in range(trials)]
            for _ in range(0, len(self.levels), self.size)
        ]
        return [
            [
                self._trial(n, shared[n // self.size][k] if self.size > 1 else [], head=head)
                for k in range(trials)
            ]
            for n in range(len(self.levels))
        ]

    def more(self, case: int, trials: int) -> list[Trial]:
        """Return further trials of one case of the head."""
        return [self._trial(case, [], head=True) for _ in range(trials)]

    def _trial(self, case: int, shared: Sequence[float], *, head: bool) -> Trial:
        common = iter(shared if shared and self.random.random() < sqrt(ICC) else ())

        def draw() -> float:
            return next(common, None) or self.random.random()

        return self.noise(self.levels[case], head and case in self.broken, draw)


def night(suite: Suite, cell: Cell) -> Iterator[Night]:
    """Yield the results of each rule for the same trials."""
    reference = suite.night(CONFIG.reference_trials, head=False)
    head = suite.night(8, head=True)
    before = _report(reference, cell)
    for trials in (1, 3, 5):
        then, now = _first(reference, trials), _first(head, trials)
        yield _compared(compare(_report(now, cell), Baseline(report=_report(then, cell))), trials)
    eight = _report(head, cell), _report(_first(reference, 8), cell)
    yield _tested(*eight, 8, significance.holm)
    three = [_confirmed(suite, n, each, before) for n, each in enumerate(_first(head, 3))]
    yield _tested(_report(three, cell), before, _answers(three), lambda found, _: list(found))
    for trials in HEADS:
        now = [_confirmed(suite, n, each, before) for n, each in enumerate(_first(head, trials))]
        yield _compared(compare(_report(now, cell), Baseline(report=before)), _answers(now))


TITLES = (
    *("1 and 1 trials", "3 and 3", "5 and 5", "Holm, 8 and 8", "no correction"),
    *(f"**reference, {trials}**" for trials in HEADS),
)


def measure(cell: Cell) -> list[Outcome]:
    """Return the outcome of each rule, in the order of the titles."""
    suites = [Suite(cell, Random(f"{number} {cell}")) for number in range(cell.nights)]
    nights = [list(night(suite, cell)) for suite in suites]
    return [_outcome(suites, each) for each in zip(*nights, strict=True)]


def _outcome(suites: Sequence[Suite], nights: Sequence[Night]) -> Outcome:
    both = zip(suites, nights, strict=True)
    flagged = [case in found.flagged for suite, found in both for case in suite.broken]
    return Outcome(
        red=fmean(each.red for each in nights),
        flagged=fmean(flagged or [0]),
        answers=fmean(each.answers for each in nights),
    )


def _first(night: Sequence[Sequence[Trial]], trials: int) -> list[list[Trial]]:
    return [list(each[:trials]) for each in night]


def _answers(night: Sequence[Sequence[Trial]]) -> float:
    return fmean(len(each) for each in night)


def _compared(compared: RunReport, answers: float) -> Night:
    assert compared.comparison is not None
    worse = [int(case.id) for case in compared.cases if case.change == "broken"]
    return Night(red=compared.comparison.regressed, flagged=frozenset(worse), answers=answers)


def _tested(
    after: RunReport,
    before: RunReport,
    answers: float,
    adjust: Callable[[Sequence[float], int], list[float]],
) -> Night:
    """Test each case by its rank sum, and the mean as the reference does."""
    p_values = _p_values(after, before)
    adjusted = adjust(p_values, len(p_values))
    found = frozenset(n for n, p in enumerate(adjusted) if p <= CONFIG.false_alarms / 2)
    whole = compare(after, Baseline(report=before)).comparison
    fell = whole is not None and whole.fell
    return Night(red=bool(found) or fell, flagged=found, answers=answers)


def _confirmed(suite: Suite, n: int, trials: list[Trial], before: RunReport) -> list[Trial]:
    every = list(trials)
    for _ in range(STAGES):
        case = replace(_case(n, every), further_trials=len(every) - len(trials))
        every += suite.more(n, alarm_budget.further_trials(case, before.cases[n], CONFIG))
    return every


def _p_values(after: RunReport, before: RunReport) -> list[float]:
    """Return the p-value of each case; 1 where it is far from any level of the tables."""
    found = []
    for head, reference in zip(after.cases, before.cases, strict=True):
        assert isinstance(head, Graded)
        assert isinstance(reference, Graded)
        pair = alarm_budget.pair(head, reference, CONFIG)
        near = significance.share_below(pair.head, pair.reference) > 0.7
        found.append(significance.p_value_below(pair.head, pair.reference) if near else 1.0)
    return found


def _normal(draw: Callable[[], float]) -> float:
    """Return about a standard normal value, from one draw (Tukey's lambda of 0.135)."""
    u = min(max(draw(), 1e-9), 1 - 1e-9)
    return float((u**0.135 - (1 - u) ** 0.135) / 0.1975)


def _trial(score: float, *, gated: bool) -> Trial:
    word: Verdict = verdict(score, ("g",) if gated else (), DEFAULT_THRESHOLDS)
    return Trial(verdict=word, score=round(score, 6))


def _case(number: int, trials: Sequence[Trial], cluster: str = "") -> Graded:
    ranked = sorted(trials, key=lambda each: (tier(each.verdict), each.score))
    median = ranked[(len(ranked) - 1) // 2]
    return Graded(
        file="a",
        line=1,
        id=str(number),
        verdict=median.verdict,
        score=median.score,
        reason="",
        trials=tuple(trials) if len(trials) > 1 else (),
        cluster=cluster,
    )


def _report(night: Sequence[Sequence[Trial]], cell: Cell) -> RunReport:
    cases = tuple(
        _case(n, trials, f"cluster {n // CLUSTER}" if cell.clustered else "")
        for n, trials in enumerate(night)
    )
    return RunReport(
        tool="",
        started_at="",
        duration_seconds=0,
        verdict=run_verdict(cases),
        gate=GateInfo(fail_on="fail", passing=0.8, borderline=0.6, holds=True),
        totals=totals(cases),
        cases=cases,
    )


def grid(arguments: argparse.Namespace) -> Iterator[Cell]:
    for cases, noise in product(arguments.cases, arguments.noise):
        nights = max(20, min(arguments.nights, arguments.budget // cases))
        for clustered in (False, True):
            yield Cell(cases=cases, noise=noise, clustered=clustered, broken=0, nights=nights)
        for broken in (0.05, 0.1, 0.2):
            fewer = max(10, nights // 4)
            yield Cell(cases=cases, noise=noise, clustered=False, broken=broken, nights=fewer)


def table(title: str, rows: dict[str, list[str]]) -> str:
    head = ["| cases, noise | " + " | ".join(TITLES) + " |", "|:--|" + "--:|" * len(TITLES)]
    body = [f"| {name} | {' | '.join(cells)} |" for name, cells in rows.items()]
    return "\n".join([f"### {title}", *head, *body, ""])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, nargs="+", default=[20, 100, 500])
    parser.add_argument("--noise", nargs="+", default=list(NOISES), choices=list(NOISES))
    parser.add_argument("--nights", type=int, default=200, help="per cell, at most")
    parser.add_argument("--budget", type=int, default=20_000, help="cases per cell, at most")
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    cells = list(grid(arguments))
    with ProcessPoolExecutor(arguments.processes) as pool:
        outcomes = dict(zip(cells, pool.map(measure, cells), strict=True))
    return show(outcomes)


def show(outcomes: dict[Cell, list[Outcome]]) -> int:
    null: dict[str, list[str]] = {}
    power: dict[str, list[str]] = {}
    for cell, rules in outcomes.items():
        name = f"{cell.cases}, {cell.noise}{', clusters' if cell.clustered else ''}"
        if cell.broken:
            shown = [f"{each.flagged:.2f} / {each.red:.2f}" for each in rules]
            power[f"{name}, {cell.broken:.0%}"] = shown
        else:
            null[f"{name} ({cell.nights} nights)"] = [f"{each.red:.3f}" for each in rules]
    print(table("Red nights although nothing changed", null))
    print(table("Broken cases flagged / red nights, by share of broken cases", power))
    references = slice(-len(HEADS), None)
    return conclude({c: rules[references] for c, rules in outcomes.items() if not c.broken})


def conclude(outcomes: dict[Cell, list[Outcome]]) -> int:
    """Print the cost of the reference, and return 1 if a cell is beyond the budget."""
    for title, rules in zip(
        TITLES[-len(HEADS) :], zip(*outcomes.values(), strict=True), strict=True
    ):
        answers = [each.answers for each in rules]
        print(f"{title}: {min(answers):.1f} to {max(answers):.1f} answers per case and night")
    budget = CONFIG.false_alarms
    beyond = [
        cell
        for cell, rules in outcomes.items()
        for each in rules
        if each.red > budget + ERRORS * sqrt(budget * (1 - budget) / cell.nights)
    ]
    print(f"Cells with a reference beyond the budget plus {ERRORS} standard errors: {len(beyond)}")
    return 1 if beyond else 0


if __name__ == "__main__":
    sys.exit(main())
