"""How often a quiet night is worse after merges that moved the reference, although nothing changed.

The reference has 15 trials, gathered over five nights. Each day has three merges that answer
every case again at the head; the base is the head of the merge before, from the cache. A case that
a merge calls fixed moves by the rule of `merge_decision`. Each night has three trials, and more of
suspects.

    python -m benchmarks.regression.merges [--suites 4]
"""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import exp, log
from random import Random
from statistics import fmean

from benchmarks.regression.alike import CONFIG, Run, case_of, started
from rubric_ci.gate.comparison import merge_decision
from rubric_ci.values.results import Trial
from rubric_ci.values.scoring import Verdict
from rubric_ci.values.trials import tier

MERGES, NIGHTS = 3, 14
FILE = 10  # cases of a file
LIMIT = 0.05

Noise = Callable[["Suite", int, "Shared"], Trial]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """The shared effect of all answers of one night, or of one merge."""

    leniency: float = 0.0  # of the judge, in logits
    files: Sequence[float] = ()  # shocks of the files, in logits


@dataclass
class Suite:
    """Cases, each with a level that never changes."""

    kind: str
    cases: int
    random: Random
    levels: list[float] = field(default_factory=list)
    deviation: float = 0.15  # of what a night or a file shares, in logits

    def __post_init__(self) -> None:
        self.levels = [self.random.betavariate(0.6, 0.3) for _ in range(self.cases)]

    def night(self) -> Shared:
        if self.kind == "day":
            return Shared(leniency=self.random.gauss(0, self.deviation))
        if self.kind == "file":
            return Shared(
                files=[self.random.gauss(0, self.deviation) for _ in range(0, self.cases, FILE)]
            )
        return Shared()

    def trials(self, case: int, night: Shared, count: int) -> list[Trial]:
        return [NOISES[self.kind](self, case, night) for _ in range(count)]


def _beta(suite: Suite, case: int, night: Shared) -> Trial:
    """Five criteria; most cases meet nearly all of them, some nearly none."""
    level = min(max(suite.levels[case], 1e-6), 1 - 1e-6)
    logit = log(level / (1 - level)) + night.leniency
    logit += night.files[case // FILE] if night.files else 0.0
    return _graded(fmean(suite.random.random() < 1 / (1 + exp(-logit)) for _ in range(5)))


def _flips(suite: Suite, case: int, _: Shared) -> Trial:
    return _graded(float(suite.random.random() < 0.8 + 0.18 * suite.levels[case]))


def _gate(suite: Suite, case: int, _: Shared) -> Trial:
    """A quality with the noise of Student's t with 3 degrees of freedom, and a gate."""
    noise = suite.random.gauss(0, 1) / (suite.random.gammavariate(1.5, 2 / 3)) ** 0.5
    score = min(1.0, max(0.0, 0.5 + 0.4 * suite.levels[case] + 0.05 * noise))
    return _graded(score, gated=suite.random.random() < 0.05)


def _border(suite: Suite, _: int, __: Shared) -> Trial:
    """One mark of 0 to 10 at the threshold."""
    return _graded(min(10, max(0, round(suite.random.gauss(8, 0.7)))) / 10)


def _verdict(suite: Suite, case: int, _: Shared) -> Trial:
    """A judge that errs on 1 % of good answers and on 30 % of bad ones."""
    good = suite.random.random() < 0.8 + 0.18 * suite.levels[case]
    errs = suite.random.random() < (0.01 if good else 0.3)
    return _graded(float(good != errs))


def _graded(score: float, *, gated: bool = False) -> Trial:
    word: Verdict = "pass" if score >= 0.8 else "borderline" if score >= 0.6 else "fail"
    return Trial(verdict="fail" if gated else word, score=round(score, 6))


NOISES: Mapping[str, Noise] = {
    "beta": _beta,
    "flips": _flips,
    "corr": _gate,
    "border": _border,
    "verdict": _verdict,
    "day": _beta,
    "file": _beta,
}


def red_nights(kind: str, cases: int, seed: int, nights: int = NIGHTS) -> tuple[float, float]:
    """Return the shares of nights of one suite that are worse, and that are an issue."""
    suite = Suite(kind, cases, Random(f"{kind} {cases} {seed}"))
    run = started(suite)
    base = _answers(suite)
    found = []
    for _ in range(nights):
        for _ in range(MERGES):
            base = _merged(run, suite, base)
        found.append(run.night())
    return fmean(worse for worse, _ in found), fmean(issue for _, issue in found)


def _answers(suite: Suite) -> list[Trial]:
    shared = suite.night()
    return [suite.trials(n, shared, 1)[0] for n in range(suite.cases)]


def _merged(run: Run, suite: Suite, base: Sequence[Trial]) -> list[Trial]:
    """Move what the merge calls fixed; return the answers that the next merge compares with."""
    shared, head = suite.night(), _answers(suite)
    for n, (now, then) in enumerate(zip(head, base, strict=True)):
        if tier(now.verdict) <= tier(then.verdict):
            continue
        new = suite.trials(n, shared, CONFIG.further_trials)
        found = replace(case_of(n, [now, *new]), change="fixed", further_trials=len(new))
        if merge_decision.demands_a_move(found, run.pooled(n)):
            run.kept[n] = {f"merge {run.day}": new}
    return head


def main() -> int:
    """Print a row per suite; return 1 if a share is beyond the limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suites", type=int, default=4, help="per row")
    suites = parser.parse_args().suites
    most = 0.0
    print("| cases, noise | worse | issue |\n|:--|--:|--:|")
    for cases in (20, 200):
        for kind in NOISES:
            found = [red_nights(kind, cases, seed) for seed in range(suites)]
            worse, issue = (fmean(each) for each in zip(*found, strict=True))
            most = max(most, issue)
            print(f"| {cases}, {kind} | {worse:.3f} | {issue:.3f} |", flush=True)
    return int(most > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
