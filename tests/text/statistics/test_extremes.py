"""Figures at their extremes: nothing, one, a million, probabilities near 0 and 1, equal values.

A function on numbers that is added to these modules must be added to the table.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from inspect import getmembers, isfunction
from math import isfinite
from time import process_time
from types import ModuleType
from typing import Any, Final

import pytest
from rubric_ci.gate.comparison.alarm_budget import Pair
from rubric_ci.gate.comparison.drift import Observed
from rubric_ci.text.statistics.night_effect import NightMeans

from rubric_ci.gate.comparison import alarm_budget, drift, verdicts
from rubric_ci.parts.lab.history import from_report
from rubric_ci.text.statistics import night_effect, significance
from rubric_ci.text.statistics.night_effect import NightMeans
from rubric_ci.values.comparison import RegressionConfig
from rubric_ci.values.results import Trial
from tests.sample_reports import a_report, errored, graded

pytestmark = pytest.mark.deep

MILLION: Final = 10**6
CONFIG: Final = RegressionConfig()
NEAR: Final = 1e-6  # a probability near 0; less than 1 by it is near 1
LOW, HIGH = (0.0, 0.0), (2.0, 1.0)


def perfect(cases: int, head: float = 1.0) -> list[list[Observed]]:
    return [[Observed(head=[head], reference=[1.0] * 15)]] * cases


def suspects(cases: int) -> Mapping[tuple[str, str], Pair]:
    return {("a", str(n)): Pair(head=(LOW,) * 20, reference=(HIGH,) * 15) for n in range(cases)}


OF_NUMBERS: Final[Mapping[Callable[..., Any], list[tuple[Any, ...]]]] = {
    significance.p_value: [
        ([],),
        ([0.0] * 20,),
        ([1.0],),
        ([-1.0] * 499,),
        ([1.0] * 10**5,),
        ([1e6] * 499,),
        ([1e3 * (1 + n % 7) + 0.37 * n for n in range(500)],),
    ],
    significance.bound_of_mean: [
        ([],),
        ([0.0],),
        ([-1.0],),
        ([1.0] * 2000 + [-1.0],),
        ([-1.0] * 10**5,),
    ],
    significance.interval: [
        ([],),
        ([[0.5]],),
        ([[0.1], [0.2]],),
        ([[0.1]] * 1000,),
        ([[0.1] * 5, [0.2] * 5] * 10**4,),
    ],
    significance.largest_drop: [(0.0, 1), (-1.0, 1), (1.0, MILLION), (NEAR - 1, MILLION)],
    significance.holm: [([], 0), ([0.0, 1.0, 1e-320], MILLION), ([0.5] * 10**5, 10**5)],
    significance.least_clusters: [(1.0,), (1e-300,)],
    significance.t_quantile: [(1,), (1, 1 - NEAR), (1000,), (MILLION,), (MILLION, 1 - NEAR)],
    significance.t_p_value: [(0.0, 1), (1e9, 1), (1e300, MILLION), (0.0, MILLION)],
    significance.share_below: [([LOW], [LOW]), ([LOW] * 500, [HIGH] * 500)],
    significance.p_value_below: [
        ([LOW], [LOW]),
        ([LOW] * 200, [LOW] * 200),
        ([LOW] * 300, [HIGH] * 300),
        ([(0.0, n / 100) for n in range(20)], [(1.0, n / 100) for n in range(15)]),
    ],
    significance.least_p_value: [(0, 0), (1, 0), (1000, 1000)],
    night_effect.means_of: [
        ([[[1.0] * 3] * 5] * 1000, 15),
        ([[[1.0]] * 2], 15),
        ([[[0.0], [1.0]] * 8] * 1000, 15),
    ],
    night_effect.measure: [([],), ([[[1.0] * 3] * 5],), ([[[1.0, 0.0, 1.0]] * 5] * 1000,)],
    drift.log_products: [([], 0.05), (perfect(10**4, 0.0), 0.05), (perfect(1), NEAR)],
    drift.detect: [([], 0.05), ([[1e9] * 7] * 1000, NEAR), ([[-1e9] * 7] * 1000, 1.0)],
    alarm_budget.confirm_cases: [({}, CONFIG), (suspects(500), CONFIG)],
    alarm_budget.observations: [([],), ([Trial(verdict="pass", score=1.0)] * 1000,)],
    verdicts.level_of: [(1, 1, CONFIG), (MILLION, 5, CONFIG)],
    verdicts.most_trials: [(1, 1, CONFIG), (MILLION, 1, CONFIG), (MILLION, 15, CONFIG)],
    verdicts.may_decide_together: [(0, CONFIG), (MILLION, CONFIG)],
    verdicts.for_cases: [(CONFIG,)],
    verdicts.mean_p_value: [
        ([],),
        ([(graded("a", "fail"), graded("a", "fail"))],),
        ([(graded(str(n), "fail"), graded(str(n), "pass")) for n in range(600)],),
    ],
    verdicts.drop_of: [([], CONFIG)],
    verdicts.drop_of_flips: [([], [], [], 0.04)],
    from_report.mean_interval: [([[0.5]],), ([[1.0]] * 10**5,), ([[0.0], [1.0]] * 10**5,)],
    from_report.rate_interval: [
        ([[1.0]],),
        ([[0.0]] * 10**5,),
        ([[1.0]] * (10**5 - 1) + [[0.0]],),
        ([[1.0, 1.0]] * 10**4,),
        ([[1.0, 0.0]], [[NEAR, NEAR]]),
    ],
    from_report.effective: [([[1.0]] * 1000,), ([[1.0, 0.0]] * 10**4,)],
    from_report.record_of: [(a_report(),), (a_report(errored("a")),), (a_report(graded("a")),)],
}

OF_CASES: Final = {  # of single cases, whose trials are a few
    alarm_budget: {"pair", "pools_enough", "trials_per_case", "further_trials"},
    verdicts: {
        "is_suspect",
        "is_broken",
        "may_be_broken",
        "must_be_broken",
        "dissents",
        "compare",
        "most_are_worse",
        "conclude",
        "flipped_together",
        "without_verdict",
        "same",
        "seen",
        "changed",
        "base_result",
        "of_commit",
    },
}

MODULES: Final[list[ModuleType]] = [
    significance,
    night_effect,
    drift,
    alarm_budget,
    verdicts,
    from_report,
]


def public(module: ModuleType) -> Iterator[tuple[str, Any]]:
    for name, found in vars(module).items():
        own = getattr(found, "__module__", "") == module.__name__
        plain = isfunction(found) or hasattr(found, "cache_info")
        if own and plain and not name.startswith("_"):
            yield name, found


@pytest.mark.parametrize("module", MODULES, ids=lambda each: each.__name__)
def test_each_function_on_numbers_is_in_the_table(module: ModuleType) -> None:
    exempt = OF_CASES.get(module, set())
    assert {n for n, f in public(module) if f not in OF_NUMBERS} == exempt
    assert getmembers(module)


def numbers_in(value: object) -> Iterator[float]:
    """Yield the numbers of a result, also within its fields."""
    if isinstance(value, int | float):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from numbers_in(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from numbers_in(each)
    elif is_dataclass(value):
        for field in fields(value):
            yield from numbers_in(getattr(value, field.name))


CALLS: Final = [
    pytest.param(function, arguments, id=f"{function.__name__} {number}")
    for function, every in OF_NUMBERS.items()
    for number, arguments in enumerate(every)
]


@pytest.mark.parametrize(("function", "arguments"), CALLS)
def test_numbers_are_finite(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    started = process_time()
    found = function(*arguments)
    assert process_time() - started < 5  # seconds, of one at most on a machine by itself
    assert all(map(isfinite, numbers_in(found)))
    if function.__name__.endswith(("p_value", "p_value_below", "bound_of_mean")):
        assert 0 < found <= 1


def test_many_small_gains_outweigh_one_loss() -> None:
    """A product of a thousand factors is beyond the largest number, and no chance."""
    assert significance.bound_of_mean([1.0] * 2000 + [-1.0]) == significance.LEAST
    assert significance.bound_of_mean([1.0] * 6) == pytest.approx(4 / 107.92822, abs=1e-5)


def test_an_interval_contains_its_rate() -> None:
    found = from_report.rate_interval([[1.0]] * (MILLION - 1) + [[0.0]])
    assert (found.low, found.value, found.high) == (0.999999, 0.999999, 1.0)


@pytest.mark.parametrize("trials", [1, 3, 1000])
def test_nights_without_a_difference(trials: int) -> None:
    means = NightMeans(nights=3, variance=0.0, trial=0.0, trials=3)
    later = means.with_later([0.0] * 1000, trials)
    found = [later.excess(trials), later.reach_of_mean(1 - NEAR), later.reach(trials)]
    assert found == [1.0, 0.0, 0.0]
    assert later.p_value(0.0, trials) == 0.0  # no error: sign flips alone decide
