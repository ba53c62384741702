"""How often the detector of slow slides rings in quiet nights whose judge is of the day.

    python -m benchmarks.regression.leniency [--sequences 200]

A night shifts the logit of every mark: by a separate value (*day*, or *tails* of
Student's t with 3 degrees of freedom), or by one that wanders from night to night (*wanders*,
autocorrelation 0.9). The reference is gathered over 15 nights of one trial or 5 nights of three,
and later nights have as many trials, or five (*15 x 1, 5*); *equal*: the trials of a night repeat
one draw, as at temperature 0, *nearly*: a trial repeats it seven times of ten. Scores are 0 or 1
(*verdict*) or the mean of five marks with a quality of the answer in common (*criteria*); *even*:
verdicts of cases whose logits are about normal. A slide loses 0.20 over 80 nights.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import astuple, dataclass, replace
from functools import cache
from itertools import product
from math import comb, log, sqrt
from statistics import NormalDist, fmean, median
from typing import Final

import numpy as np

from benchmarks.regression.slides import BUDGET, LOSS, QUIET, SLIDING, Scores, first_alarm
from rubric_ci.gate.comparison import drift
from rubric_ci.gate.comparison.drift import Observed
from rubric_ci.text.statistics import night_effect, significance
from rubric_ci.text.statistics.night_effect import MOST_FREEDOM, WORTH, NightMeans

CASES: Final = 200
NOISES: Final = ("verdict", "criteria", "even")
DESIGNS: Final = {
    "15 x 1": (15, 1, 1, 0.0),
    "15 x 1, 5": (15, 1, 5, 0.0),
    "5 x 3": (5, 3, 3, 0.0),
    "equal": (5, 3, 3, 1.0),
    "nearly": (5, 3, 3, 0.7),
}
"""Nights and trials of the reference, trials of later nights, and how many repeat the first."""
SHIFTS: Final = (("day", 0.0), ("day", 0.15), ("day", 0.3), ("tails", 0.3), ("wanders", 0.2))
REPEATED: Final = 0.9  # autocorrelation of a leniency that wanders


@dataclass
class Suite:
    """Cases with their own logits, most of which pass nearly always."""

    noise: str
    repeats: float  # probability that a trial repeats the first draw of its night
    random: np.random.Generator

    def __post_init__(self) -> None:
        kinds = self.random.choice([3.5, 1.4, -0.8], CASES, p=[0.7, 0.2, 0.1])
        own = self.random.standard_normal(CASES)
        self.logits = 1.5 + 1.5 * own if self.noise == "even" else kinds + 0.3 * own

    def nights(self, shifts: Scores, trials: int) -> Scores:
        """Return the scores by night, case and trial."""
        shape = (len(shifts), CASES, trials)
        logits = self.logits[None, :, None] + shifts[:, None, None] + np.zeros(shape)
        drawn = self._drawn(logits)
        again = self.random.random(shape) < self.repeats
        return np.where(again, drawn[:, :, :1], drawn)

    def _drawn(self, logits: Scores) -> Scores:
        if self.noise != "criteria":
            return (self.random.logistic(size=logits.shape) < logits).astype(np.float64)
        quality = self.random.standard_t(3, logits.shape)
        marks = [
            self.random.logistic(size=logits.shape) < logits + quality / sqrt(3) for _ in range(5)
        ]
        return np.mean(marks, axis=0)

    def shifts(self, kind: str, deviation: float, count: int) -> Scores:
        """Return the leniency of consecutive nights."""
        if kind == "tails":
            return np.asarray(deviation * self.random.standard_t(3, count) / sqrt(3))
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
    least = (NormalDist().inv_cdf(1 - risk) * error + log(1 / risk) / trials) / CASES
    allowances = np.full(len(head), least)
    excess = np.ones(len(head))
    if nights:
        known = list(since(head, nights))
        allowances = np.array([max(least, _reach(each)) for each in known])
        excess = np.array([each.excess(head.shape[2]) for each in known])
    means = kept.mean(axis=1)
    drops = means[None, :, None] - head - allowances[:, None, None]
    units = drops / ((1 - means).max() + allowances)[:, None, None]
    flat = units.reshape(len(head), -1)
    gains = [np.log1p(bet * flat).sum(axis=1) / excess for bet in drift.BETS]
    return np.exp(np.minimum(np.stack(gains, axis=1), log(drift.MOST_OF_A_NIGHT)))


def since(head: Scores, nights: NightMeans) -> Iterator[NightMeans]:
    """Yield the facts that are known before each night."""
    means = head.mean(axis=(1, 2))
    fewer = nights.trial * (1 / head.shape[2] - 1 / nights.trials)
    squares = WORTH * ((means[1:] - means[:-1]) ** 2 / 2 - fewer)
    sums = np.concatenate([[0.0, 0.0], np.cumsum(squares)])
    for number in range(len(head)):
        further = WORTH * max(0, number - 1)
        every = nights.variance * (nights.nights - 1) + sums[number]
        found = max(0.0, every) / (nights.nights - 1 + further)
        yield replace(nights, variance=found, further=further)


def _reach(nights: NightMeans) -> float:
    freedom = min(MOST_FREEDOM, int(nights.freedom + 1e-9))
    return _quantile(freedom) * sqrt(nights.variance / nights.nights)


@cache
def _quantile(freedom: int) -> float:
    return significance.t_quantile(freedom, 1 - BUDGET)


def sequence(
    noise: str, design: tuple[int, int, int, float], shift: tuple[str, float], seed: int
) -> tuple[bool, int | None]:
    """Return whether quiet nights raised an alarm, and when a slide did."""
    count, trials, later, repeats = design
    suite = Suite(noise, repeats, np.random.default_rng(seed))
    reference = suite.nights(suite.shifts(*shift, count), trials)
    nights = measured(reference)
    quiet = suite.nights(suite.shifts(*shift, QUIET), later)
    if not seed:
        check(quiet[:4], reference, nights)
    sliding = suite.nights(suite.shifts(*shift, SLIDING), later)
    lost = suite.random.random(sliding.shape) < LOSS * np.arange(1, SLIDING + 1)[:, None, None] / (
        SLIDING
    )
    alarm = first_alarm(products(quiet, reference, nights))
    found = first_alarm(products(np.where(lost, 0.0, sliding), reference, nights))
    return alarm is not None, found


def measured(reference: Scores) -> NightMeans:
    """Return the effect of the nights of the reference; as `night_effect.means_of`, and faster."""
    count, cases, trials = reference.shape
    every = count * trials
    by_case = reference.transpose(1, 0, 2)
    total = by_case.reshape(cases, -1).var(axis=1, ddof=1) * every * (every - 1)
    inside = by_case.var(axis=2).sum(axis=1) * trials**2
    within = inside / (count * comb(trials, 2)) if trials > 1 else np.zeros(cases)
    apart = (total - inside) / (comb(every, 2) - count * comb(trials, 2))
    alike = float((apart - within).sum() / apart.sum()) if trials > 1 and apart.sum() else 0.0
    return NightMeans(
        nights=count,
        variance=float(reference.mean(axis=(1, 2)).var(ddof=1)),
        trial=float(apart.mean()) / 2 / cases,
        trials=trials,
        correlation=max(0.0, alike),
    )


def check(head: Scores, reference: Scores, nights: NightMeans) -> None:
    """Compare some nights with the code of rubric_ci."""
    count, _, trials = reference.shape
    by_case = [[list(night[n]) for night in reference] for n in range(CASES)]
    found = night_effect.means_of(by_case, count * trials)
    assert found
    assert np.allclose(astuple(found), astuple(nights))
    kept = reference.transpose(1, 0, 2).reshape(CASES, -1)
    ours = products(head, reference, nights)
    for number, night in enumerate(head):
        cases = [
            [Observed(head=list(scores), reference=list(each))]
            for scores, each in zip(night, kept, strict=True)
        ]
        before = found.with_later(list(head[:number].mean(axis=(1, 2))), head.shape[2])
        expected = np.exp(drift.log_products(cases, BUDGET, before))
        assert np.allclose(ours[number], np.minimum(expected, drift.MOST_OF_A_NIGHT), rtol=1e-4)


def main() -> int:
    """Print a row per noise, design and shift; return 1 if days are beyond the budget."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sequences", type=int, default=200)
    parser.add_argument("--noise", nargs="+", default=list(NOISES), choices=NOISES)
    parser.add_argument("--design", nargs="+", default=list(DESIGNS), choices=DESIGNS)
    arguments = parser.parse_args()
    allowed = BUDGET + 3 * sqrt(BUDGET * (1 - BUDGET) / arguments.sequences)
    print("| scores | reference | leniency | quiet, with an alarm | slides found | median night |")
    print("|---|---|---|--:|--:|--:|")
    worst = 0.0
    for noise, name, shift in product(arguments.noise, arguments.design, SHIFTS):
        every = [sequence(noise, DESIGNS[name], shift, seed) for seed in range(arguments.sequences)]
        false = fmean(alarm for alarm, _ in every)
        slides = [night for _, night in every]
        share = fmean(night is not None for night in slides)
        night = median(each or SLIDING + 1 for each in slides)
        worst = max(worst, false) if shift[0] != "wanders" else worst
        print(
            f"| {noise} | {name} | {shift[0]} {shift[1]} | {false:.3f} | {share:.2f} "
            f"| {night:.0f} |",
            flush=True,
        )
    print(f"\nAt most {worst:.3f} of the sequences of days; allowed {allowed:.3f}.")
    return int(worst > allowed)


if __name__ == "__main__":
    sys.exit(main())
