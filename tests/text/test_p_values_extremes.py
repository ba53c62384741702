"""Figures at their extremes: nothing, one, a million, probabilities near 0 and 1, equal values.

A function on numbers that is added to this module must be added to the table.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from inspect import isfunction
from math import isfinite
from time import process_time
from types import ModuleType
from typing import Any, Final

import pytest

from rubric_ci.text import p_values_and_intervals as significance

pytestmark = pytest.mark.deep

MILLION: Final = 10**6
NEAR: Final = 1e-6  # a probability near 0; less than 1 by it is near 1

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
    significance.t_quantile: [(1,), (1, 1 - NEAR), (1000,), (MILLION,), (MILLION, 1 - NEAR)],
}


def public(module: ModuleType) -> Iterator[tuple[str, Any]]:
    for name, found in vars(module).items():
        own = getattr(found, "__module__", "") == module.__name__
        plain = isfunction(found) or hasattr(found, "cache_info")
        if own and plain and not name.startswith("_"):
            yield name, found


def test_each_function_on_numbers_is_in_the_table() -> None:
    assert {name for name, found in public(significance) if found not in OF_NUMBERS} == set()


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
    if function.__name__.endswith(("p_value", "bound_of_mean")):
        assert 0 < found <= 1


def test_many_small_gains_outweigh_one_loss() -> None:
    """A product of a thousand factors is beyond the largest number, and no chance."""
    assert significance.bound_of_mean([1.0] * 2000 + [-1.0]) == significance.LEAST
    assert significance.bound_of_mean([1.0] * 6) == pytest.approx(4 / 107.92822, abs=1e-5)
