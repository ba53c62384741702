"""How often the detector of slow slides rings in quiet nights whose judge is of the day.

    python -m benchmarks.regression.leniency [--sequences 200]

A night shifts the logit of every mark: by a value of its own (*day*), or by one that wanders from
night to night (*wanders*, autocorrelation 0.9). The reference is gathered over 15 nights of one
trial or 5 nights of three; *equal*: the trials of a night repeat one draw, as at temperature 0,
*nearly*: a trial repeats it seven times of ten. Scores are 0 or 1 (*verdict*) or the mean of five
marks with a quality of the answer in common (*criteria*). A slide loses 0.20 over 80 nights.
"""

import argparse
import sys
from dataclasses import dataclass
from itertools import product
from math import log, sqrt
from statistics import NormalDist, fmean, median
from typing import Final

import numpy as np

from benchmarks.regression.slides import BUDGET, LOSS, QUIET, SLIDING, Scores, first_alarm
from rubric_ci.gate.comparison import drift
from rubric_ci.gate.comparison.drift import Observed
from rubric_ci.text.statistics import night_effect
from rubric_ci.text.statistics.night_effect import NightMeans

CASES: Final = 200
NOISES: Final = ("verdict", "criteria")
DESIGNS: Final = {"15 x 1": (15, 1, 0.0), "5 x 3": (5, 3, 0.0), "equal": (5, 3, 1.0)}
NEARLY: Final = {"nearly": (5, 3, 0.7)}
SHIFTS: Final = (("day", 0.0), ("day", 0.15), ("day", 0.3), ("wanders", 0.2))
REPEATED: Final = 0.9  # autocorrelation of a leniency that wanders


@dataclass
class Suite:
    """Cases with a logit of their own, most of which pass nearly always."""

    noise: str
    repeats: float  # probability that a trial repeats the first draw of its night
    random: np.random.Generator

    def __post_init__(self) -> None:
        kinds = self.random.choice([3.5, 1.4, -0.8], CASES, p=[0.7, 0.2, 0.1])
        self.logits = kinds + 0.3 * self.random.standard_normal(CASES)

    def nights(self, shifts: Scores, trials: int) -> Scores:
        """Return the scores by night, case and trial."""
        shape = (len(shifts), CASES, trials)
        logits = self.logits[None, :, None] + shifts[:, None, None] + np.zeros(shape)
        drawn = self._drawn(logits)
        again = self.random.random(shape) < self.repeats
        return np.where(again, drawn[:, :, :1], drawn)

    def _drawn(self, logits: Scores) -> Scores:
        if self.noise == "verdict":
            return (self.random.logistic(size=logits.shape) < logits).astype(np.float64)
        quality = self.random.standard_t(3, logits.shape)
        marks = [
            self.random.logistic(size=logits.shape) < logits + quality / sqrt(3) for _ in range(5)
        ]
        return np.mean(marks, axis=0)

    def shifts(self, kind: str, deviation: float, count: int) -> Scores:
        """Return the leniency of consecutive nights."""
        own = deviation * self.random.standard_normal(count)
        if kind == "day":
            return own
        found = [own[0]]
        for each in own[1:]:
            found.append(REPEATED * found[-1] + sqrt(1 - REPEATED**2) * each)
        return np.array(found)


def products(head: Scores, reference: Scores, nights: NightMeans | None) -> Scores:
    """Return the products of nights, by night and bet, for cases that are independent."""
    kept = reference.transpose(1, 0, 2).reshape(CASES, -1)
    trials = kept.shape[1]
    error = sqrt(kept.var(axis=1, ddof=1).sum() / trials)
    risk = BUDGET / 2
    allowance = (NormalDist().inv_cdf(1 - risk) * error + log(1 / risk) / trials) / CASES
    if nights:
        allowance = max(allowance, nights.reach_of_mean(1 - BUDGET))
    means = kept.mean(axis=1)
    drops = means[None, :, None] - head - allowance
    units = (drops / ((1 - means).max() + allowance)).reshape(len(head), -1)
    excess = nights.excess if nights else 1.0
    gains = [np.log1p(bet * units).sum(axis=1) / excess for bet in drift.BETS]
    return np.exp(np.minimum(np.stack(gains, axis=1), 100))


def sequence(
    noise: str, design: tuple[int, int, float], shift: tuple[str, float], seed: int
) -> tuple[bool, int | None]:
    """Return whether quiet nights raised an alarm, and when a slide did."""
    count, trials, repeats = design
    suite = Suite(noise, repeats, np.random.default_rng(seed))
    reference = suite.nights(suite.shifts(*shift, count), trials)
    by_case = [[list(night[n]) for night in reference] for n in range(CASES)]
    nights = night_effect.means_of(by_case, count * trials)
    quiet = suite.nights(suite.shifts(*shift, QUIET), trials)
    check(quiet[0], reference, nights)
    sliding = suite.nights(suite.shifts(*shift, SLIDING), trials)
    lost = suite.random.random(sliding.shape) < LOSS * np.arange(1, SLIDING + 1)[:, None, None] / (
        SLIDING
    )
    alarm = first_alarm(products(quiet, reference, nights))
    found = first_alarm(products(np.where(lost, 0.0, sliding), reference, nights))
    return alarm is not None, found


def check(night: Scores, reference: Scores, nights: NightMeans | None) -> None:
    """Compare one night with the code of rubric_ci."""
    kept = reference.transpose(1, 0, 2).reshape(CASES, -1)
    cases = [
        [Observed(head=list(head), reference=list(each))]
        for head, each in zip(night, kept, strict=True)
    ]
    expected = np.exp(drift.log_products(cases, BUDGET, nights))
    assert np.allclose(products(night[None], reference, nights)[0], expected, rtol=1e-4)


def main() -> int:
    """Print a row per noise, design and shift; return 1 if *day* is beyond the budget."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sequences", type=int, default=200)
    arguments = parser.parse_args()
    allowed = BUDGET + 3 * sqrt(BUDGET * (1 - BUDGET) / arguments.sequences)
    print("| scores | reference | leniency | quiet, with an alarm | slides found | median night |")
    print("|---|---|---|--:|--:|--:|")
    worst = 0.0
    designs = {**DESIGNS, **NEARLY}
    for noise, name, shift in product(NOISES, designs, SHIFTS):
        every = [sequence(noise, designs[name], shift, seed) for seed in range(arguments.sequences)]
        false = fmean(alarm for alarm, _ in every)
        slides = [night for _, night in every]
        share = fmean(night is not None for night in slides)
        night = median(each or SLIDING + 1 for each in slides)
        worst = max(worst, false) if shift[0] == "day" else worst
        print(
            f"| {noise} | {name} | {shift[0]} {shift[1]} | {false:.3f} | {share:.2f} "
            f"| {night:.0f} |",
            flush=True,
        )
    print(f"\nAt most {worst:.3f} of the sequences of days; allowed {allowed:.3f}.")
    return int(worst > allowed)


if __name__ == "__main__":
    sys.exit(main())
