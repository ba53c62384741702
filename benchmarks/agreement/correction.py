"""How often the corrected pass rate of a report contains the true one.

Suites are drawn from a population in which people pass a known share; the judge errs with a known
sensitivity and specificity; answers are labelled by random draws within its passes and its fails.
"""

import argparse
from dataclasses import dataclass
from itertools import product
from random import Random

from rubric_ci.calibration.corrected_rate import correct
from rubric_ci.model.correction import Stratum

TRUTHS = (0.5, 0.8, 0.95)
JUDGES = {"good": (0.95, 0.9), "lenient": (0.98, 0.5), "strict": (0.7, 0.97)}
SIZES = ((200, 20), (200, 60), (500, 60))  # cases, labels per stratum


@dataclass(frozen=True, slots=True, kw_only=True)
class Population:
    """What people and the judge say of answers."""

    truth: float  # share that people pass
    sensitivity: float  # share of these that the judge passes
    specificity: float  # share of the others that the judge fails


def covered(population: Population, cases: int, labels: int, chance: Random) -> tuple[bool, bool]:
    """Return whether the corrected and the raw interval contain the true pass rate."""
    people = [chance.random() < population.truth for _ in range(cases)]
    judge = [
        chance.random() < (population.sensitivity if p else 1 - population.specificity)
        for p in people
    ]
    passes = [p for p, j in zip(people, judge, strict=True) if j]
    fails = [p for p, j in zip(people, judge, strict=True) if not j]
    strata = [_drawn(group, labels, chance) for group in (passes, fails)]
    q = sum(judge) / cases
    found = correct(q, cases, *strata)
    reach = 1.96 * (q * (1 - q) / cases) ** 0.5
    raw = abs(q - population.truth) <= reach
    return found.low <= population.truth <= found.high, raw


def _drawn(group: list[bool], labels: int, chance: Random) -> Stratum:
    drawn = chance.sample(group, min(labels, len(group)))
    return Stratum(labelled=len(drawn), passes=sum(drawn))


def main() -> None:
    """Print a row per population, judge and size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suites", type=int, default=4000, help="per row")
    given = parser.parse_args()
    print("| people pass | judge | cases | labels | corrected covers | raw covers |")
    print("|--:|---|--:|--:|--:|--:|")
    for truth, judge, (cases, labels) in product(TRUTHS, JUDGES, SIZES):
        sensitivity, specificity = JUDGES[judge]
        population = Population(truth=truth, sensitivity=sensitivity, specificity=specificity)
        chance = Random(f"{truth}/{judge}/{cases}/{labels}")
        runs = [covered(population, cases, labels, chance) for _ in range(given.suites)]
        shares = [sum(column) / given.suites for column in zip(*runs, strict=True)]
        print(
            f"| {truth} | {judge} | {cases} | {labels}+{labels} "
            f"| {shares[0]:.3f} | {shares[1]:.3f} |"
        )


if __name__ == "__main__":
    main()
