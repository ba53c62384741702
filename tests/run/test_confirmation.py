"""Further trials of suspects, on the simulated pull requests of benchmarks/against."""

import asyncio
from random import Random

import pytest

from benchmarks.against.simulate import pull


def further(cases: int, broken: int, seed: int = 0) -> tuple[bool, int]:
    return asyncio.run(pull(Random(seed), cases, (0.97, 0.0), 1, broken))


@pytest.mark.parametrize("cases", [10, 40])
def test_a_prompt_that_breaks_every_case_costs_no_further_trial(cases: int) -> None:
    assert further(cases, broken=cases) == (True, 0)


def test_fewer_cases_than_the_group_needs_are_confirmed_one_by_one() -> None:
    assert further(4, broken=4) == (True, 32)


def test_few_of_many_are_confirmed_one_by_one() -> None:
    found, asked = further(40, broken=3)
    assert found
    assert 24 <= asked <= 60


@pytest.mark.parametrize("cases", [5, 20])
def test_a_target_that_varies_is_seldom_called_broken(cases: int) -> None:
    alarms = [
        asyncio.run(pull(Random(f"{cases} {seed}"), cases, (0.5, 0.0), 1, 0))[0]
        for seed in range(100)
    ]
    assert sum(alarms) <= 5
