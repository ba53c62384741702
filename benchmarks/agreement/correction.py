"""How often the corrected pass rate of a report contains the true one.

Suites are drawn from a population in which people pass a known share; the judge errs with a known
sensitivity and specificity; answers are labelled by random draws within its passes and its fails.
Then the same after people pass fewer answers than when the labels were drawn.
"""

import argparse
from dataclasses import dataclass, replace
from itertools import product
from random import Random

from rubric_ci.parts.lab.calibration.correction import correct, why_left
from rubric_ci.values.comparison import Stratum

TRUTHS = (0.5, 0.8, 0.95)
JUDGES = {"good": (0.95, 0.9), "lenient": (0.98, 0.5), "strict": (0.7, 0.97)}
SHIFTS = (0.0, 0.05, 0.1, 0.2)  # of the share that people pass
SHIFTED = ("good", "strict", "lenient")
SIZES = ((200, 20), (200, 60), (500, 60))  # cases, labels per stratum


@dataclass(frozen=True, slots=True, kw_only=True)
class Population:
    """The marks of people and of the judge for answers."""

    truth: float  # share that people pass
    sensitivity: float  # share of these that the judge passes
    specificity: float  # share of the others that the judge fails


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The figures of a report after a change of the pass rate."""

    withheld: bool
    covered: bool  # the true rate is in the interval, also of one that is withheld


def covered(population: Population, cases: int, labels: int, chance: Random) -> tuple[bool, bool]:
    """Return whether the corrected and the raw interval contain the true pass rate."""
    answers = _answers(population, cases, chance)
    strata = _strata(answers, labels, chance)
    q = sum(judge for _, judge in answers) / cases
    found = correct(q, cases, *strata)
    reach = 1.96 * (q * (1 - q) / cases) ** 0.5
    raw = abs(q - population.truth) <= reach
    return found.low <= population.truth <= found.high, raw


def shifted(population: Population, shift: float, cases: int, labels: int, chance: Random) -> Shown:
    """Return the figures of a report after people pass fewer answers."""
    strata = _strata(_answers(population, cases, chance), labels, chance)
    now = replace(population, truth=population.truth - shift)
    q = sum(judge for _, judge in _answers(now, cases, chance)) / cases
    found = correct(q, cases, *strata)
    return Shown(
        withheld=bool(why_left(q, q * (1 - q) / cases, *strata)),
        covered=found.low <= now.truth <= found.high,
    )


def wrong(population: Population, shift: float, suites: int) -> tuple[float, float, float]:
    """Return the shares of suites that are withheld, shown wrong, and covered at all."""
    chance = Random(f"{population}/{shift}")
    found = [shifted(population, shift, 200, 60, chance) for _ in range(suites)]
    return (
        sum(each.withheld for each in found) / suites,
        sum(not each.withheld and not each.covered for each in found) / suites,
        sum(each.covered for each in found) / suites,
    )


def _answers(population: Population, cases: int, chance: Random) -> list[tuple[bool, bool]]:
    people = [chance.random() < population.truth for _ in range(cases)]
    return [
        (p, chance.random() < (population.sensitivity if p else 1 - population.specificity))
        for p in people
    ]


def _strata(
    answers: list[tuple[bool, bool]], labels: int, chance: Random
) -> tuple[Stratum, Stratum]:
    passes = [person for person, judge in answers if judge]
    fails = [person for person, judge in answers if not judge]
    return _drawn(passes, labels, chance), _drawn(fails, labels, chance)


def _drawn(group: list[bool], labels: int, chance: Random) -> Stratum:
    drawn = chance.sample(group, min(labels, len(group)))
    return Stratum(labelled=len(drawn), passes=sum(drawn), of=len(group))


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
    print()
    print(
        "| judge | people pass | withheld | shown and wrong | of the shown | wrong if all shown |"
    )
    print("|---|--:|--:|--:|--:|--:|")
    for judge, shift in product(SHIFTED, SHIFTS):
        sensitivity, specificity = JUDGES[judge]
        population = Population(truth=0.8, sensitivity=sensitivity, specificity=specificity)
        withheld, shown, inside = wrong(population, shift, given.suites)
        of_shown = shown / (1 - withheld) if withheld < 1 else 0.0
        cells = (withheld, shown, of_shown, 1 - inside)
        print(f"| {judge} | {0.8 - shift:.2f} | {' | '.join(f'{each:.3f}' for each in cells)} |")


if __name__ == "__main__":
    main()
