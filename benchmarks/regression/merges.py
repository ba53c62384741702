"""How often a quiet night is red after merges that moved the reference, although nothing changed.

A suite has a reference of 15 trials. Each day has three merges that answer every case again at the
head; the base is the head of the merge before, from the cache. Each night has three trials, and
more of suspects. The rule `first trial` moves a case to the trial that chose it, as rubric-ci did;
`new trials` is the rule of `merge_decision`.

    python -m benchmarks.regression.merges [--suites 10]
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from random import Random
from statistics import fmean

from rubric_ci.comparison import alarm_budget, merge_decision
from rubric_ci.comparison.compare import compare
from rubric_ci.comparison.reference import Baseline
from rubric_ci.grading.engine import STAGES
from rubric_ci.model.gate import GateInfo
from rubric_ci.model.reference_log import Decision, ReferenceLog
from rubric_ci.model.regression_config import RegressionConfig
from rubric_ci.model.report import RunReport, run_verdict, totals
from rubric_ci.model.results import CaseResult, Graded, Trial
from rubric_ci.model.trials import tier

CONFIG = RegressionConfig()
MERGES, NIGHTS, TRIALS = 3, 14, 3
SUITES = ("beta", "flips")
RULES = ("first trial", "new trials")
LIMIT = 0.05
DAY = "2026-01-01T00:00:00+00:00"
LOG = ReferenceLog(decisions=(Decision(reason="", measured_at=DAY, decided_at=DAY, cases=0),))


class Suite:
    """Cases, each with a probability to pass that never changes."""

    def __init__(self, kind: str, cases: int, random: Random) -> None:
        self.random = random
        self.chances = [
            random.betavariate(0.6, 0.3) if kind == "beta" else 1 - random.uniform(0.02, 0.2)
            for _ in range(cases)
        ]

    def trials(self, case: int, count: int) -> list[Trial]:
        return [self._trial(case) for _ in range(count)]

    def _trial(self, case: int) -> Trial:
        if self.random.random() < self.chances[case]:
            return Trial(verdict="pass", score=1.0)
        return Trial(verdict="fail", score=0.0)


def red_nights(kind: str, cases: int, rule: str, seed: int, nights: int = NIGHTS) -> float:
    """Return the share of red nights of one suite."""
    suite = Suite(kind, cases, Random(f"{kind} {cases} {seed}"))
    kept = [suite.trials(n, CONFIG.reference_trials) for n in range(cases)]
    base = [suite.trials(n, 1)[0] for n in range(cases)]
    red = 0
    for _ in range(nights):
        for _ in range(MERGES):
            base = _merged(suite, kept, base, rule)
        red += _night(suite, kept)
    return red / nights


def _merged(suite: Suite, kept: list[list[Trial]], base: Sequence[Trial], rule: str) -> list[Trial]:
    """Move what the merge calls fixed; return the answers that the next merge compares with."""
    head = [suite.trials(n, 1)[0] for n in range(len(kept))]
    for n, (now, then) in enumerate(zip(head, base, strict=True)):
        if tier(now.verdict) <= tier(then.verdict):
            continue
        was = case_of(n, kept[n])
        if rule == "first trial":
            if tier(now.verdict) > tier(was.verdict):
                kept[n] = [now]
            continue
        new = suite.trials(n, CONFIG.further_trials)
        found = replace(case_of(n, [now, *new]), change="fixed", further_trials=len(new))
        if merge_decision.demands_a_move(found, was):
            kept[n] = new
    return head


def _night(suite: Suite, kept: list[list[Trial]]) -> bool:
    """Return True if the night is red; the reference gets the trials that it lacks."""
    first = [suite.trials(n, TRIALS) for n in range(len(kept))]
    reference = report_of([case_of(n, trials) for n, trials in enumerate(kept)])
    head = []
    for n, trials in enumerate(first):
        head.append(asked(n, trials, reference.cases[n], partial(suite.trials, n)))
    compared = compare(report_of(head), Baseline(report=reference, log=LOG)).comparison
    assert compared is not None
    for trials, new in zip(kept, first, strict=True):
        if len(trials) < CONFIG.reference_trials:
            trials.extend(new)
    return compared.regressed


def asked(
    number: int,
    first: Sequence[Trial],
    was: CaseResult,
    draw: Callable[[int], Sequence[Trial]],
    *,
    worse_before: bool = False,
) -> Graded:
    """Return a case of a night with the further trials that it is given."""
    case = case_of(number, first)
    for _ in range(STAGES):
        more = alarm_budget.further_trials(case, was, CONFIG, worse_before=worse_before)
        every = [*case.trials, *draw(more)]
        case = replace(case_of(number, every), further_trials=len(every) - len(first))
    return case


def case_of(number: int, trials: Sequence[Trial]) -> Graded:
    ranked = sorted(trials, key=lambda each: (tier(each.verdict), each.score))
    median = ranked[(len(ranked) - 1) // 2]
    return Graded(
        file="a",
        line=1,
        id=str(number),
        verdict=median.verdict,
        score=median.score,
        reason="",
        trials=tuple(trials),
    )


def report_of(cases: Sequence[Graded]) -> RunReport:
    return RunReport(
        tool="",
        started_at=DAY,
        duration_seconds=0,
        verdict=run_verdict(cases),
        gate=GateInfo(fail_on="fail", passing=0.8, borderline=0.6, holds=True),
        totals=totals(cases),
        cases=tuple(cases),
    )


def main() -> int:
    """Print a row per suite; return 1 if the rule in use is beyond the limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suites", type=int, default=10, help="per row")
    suites = parser.parse_args().suites
    worst = 0.0
    print("| cases, noise | " + " | ".join(RULES) + " |\n|:--|--:|--:|")
    for cases in (20, 200):
        for kind in SUITES:
            shares = [
                fmean(red_nights(kind, cases, rule, seed) for seed in range(suites))
                for rule in RULES
            ]
            worst = max(worst, shares[-1])
            print(f"| {cases}, {kind} | {shares[0]:.3f} | {shares[1]:.3f} |", flush=True)
    return int(worst > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
