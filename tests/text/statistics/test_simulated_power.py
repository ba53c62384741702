"""The smallest drop that is seen, against simulated runs, and the cases that it needs."""

import random
from math import sqrt

import pytest

from rubric_ci.parts.lab.history.detectable_drop import needed, sees
from rubric_ci.text.statistics import significance
from rubric_ci.text.statistics.power import DEFAULT, cases_needed, smallest_drop
from tests.text.statistics.test_power import design


def test_the_drop_is_seen_in_four_of_five_simulated_nights() -> None:
    chance, seen, nights = random.Random(1), 0, 600
    drop = smallest_drop(design(60, 3), DEFAULT)
    assert drop is not None
    for _ in range(nights):
        differences = [one_difference(chance, drop) for _ in range(60)]
        seen += sum(differences) < 0 and significance.p_value(differences) < 0.05
    assert 0.75 < seen / nights < 0.86


def one_difference(chance: random.Random, drop: float) -> float:
    """Return the difference of the means of three trials; an affected case loses 0.5."""
    lost = 0.5 if chance.random() < drop / 0.5 else 0.0
    noise = sqrt(DEFAULT.trial * 2 / 3)
    return chance.gauss(-lost, noise)


@pytest.mark.parametrize("trials", [1, 3, 10])
@pytest.mark.parametrize("drop", [0.02, 0.05, 0.2])
def test_the_cases_needed_are_the_fewest(drop: float, trials: int) -> None:
    cases = cases_needed(drop, trials, DEFAULT)
    assert cases is not None
    smallest, above = (smallest_drop(design(n, trials), DEFAULT) for n in (cases, cases - 1))
    assert smallest is not None
    assert smallest <= drop + 1e-5
    assert above is None or above > drop - 1e-5


def test_what_it_takes() -> None:
    first, second = needed(0.05, design(24, 3), DEFAULT)
    assert first.startswith("to detect a drop of 5 points with 80 % probability: ")
    counts = [int(part.split()[0].replace(",", "")) for part in first.split(": ")[1].split(" or ")]
    assert counts == sorted(counts, reverse=True)
    assert second == sees(design(24, 3), DEFAULT)
