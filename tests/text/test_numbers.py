"""Numbers, amounts and lengths."""

from dataclasses import replace
from typing import Any

import pytest

from rubric_ci.text import numbers
from tests.sample_reports import a_report


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({"calls": 0}, "no model calls"),
        ({"calls": 1, "cost_usd": 0.0123}, "1 model call, $0.0123"),
        ({"calls": 1, "cost_usd": 0.00004}, "1 model call, less than $0.0001"),
        ({"calls": 3, "cost_usd": 0.0}, "3 model calls, $0.00"),
        ({"calls": 1200, "cost_usd": 12.345}, "1,200 model calls, $12.35"),
        (
            {"calls": 5000, "cost_usd": 1234.5, "unpriced_calls": 1200},
            "5,000 model calls, $1,234.50 without 1,200 of unknown cost",
        ),
        ({"calls": 2, "unpriced_calls": 2}, "2 model calls, cost unknown"),
        (
            {"calls": 3, "cost_usd": 0.5, "unpriced_calls": 1},
            "3 model calls, $0.5000 without 1 of unknown cost",
        ),
        ({"calls": 3, "cost_usd": 0.0, "unpriced_calls": 1}, "3 model calls, cost unknown"),
    ],
)
def test_cost(changes: dict[str, Any], shown: str) -> None:
    assert numbers.cost(replace(a_report().totals, **changes)) == shown


@pytest.mark.parametrize(
    ("amount", "shown"),
    [(0.5, "at most $0.5000"), (0.00004, "less than $0.0001"), (0.0, "at most $0.00")],
)
def test_bounded(amount: float, shown: str) -> None:
    assert numbers.bounded("at most ", amount) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.04, "0.0 s"), (59.94, "59.9 s"), (60, "1 min 0 s"), (3725, "62 min 5 s")],
)
def test_duration(seconds: float, shown: str) -> None:
    assert numbers.duration(seconds) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("2026-01-02T03:04:05Z", "2026-01-02 03:04 UTC"),
        ("2026-01-02T03:04:05.5+02:00", "2026-01-02 01:04 UTC"),
        ("2026-01-02T03:04:05", "2026-01-02T03:04:05"),
        ("<b>", "<b>"),
    ],
)
def test_a_moment_for_people(text: str, shown: str) -> None:
    assert numbers.moment(text) == shown


@pytest.mark.parametrize(
    ("names", "taken", "unlike"),
    [
        ("a b a a", "", "a b a-2 a-3"),
        ("a a a-2", "", "a a-2 a-2-2"),
        ("a a-2 a", "", "a a-2 a-3"),
        ("a", "a a-2", "a-3"),
    ],
)
def test_no_name_is_taken_twice(names: str, taken: str, unlike: str) -> None:
    assert [*numbers.numbered(names.split(), taken.split())] == unlike.split()
