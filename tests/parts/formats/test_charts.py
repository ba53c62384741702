"""Bars are as long as their counts, and each says what it counts."""

import re

import pytest

from rubric_ci.parts.formats.groups import bar, bin_of, histogram
from tests.parts.formats import drawn
from tests.sample_reports import graded


def test_parts_of_the_bar() -> None:
    text = drawn.macro(
        "parts.html", "chart", bar([("pass", 1_500, "passed"), ("fail", 500, "failed")])
    )
    assert 'aria-label="1,500 passed, 500 failed"' in text
    assert re.findall(r'class="(\w+)" x="(\S+)" y="0.00" width="(\S+)"', text) == [
        ("pass", "0.00", "75.00"),
        ("fail", "75.00", "25.00"),
    ]


def test_columns_of_the_histogram_are_stacked_by_verdict() -> None:
    cases = [graded("a", "pass"), graded("b", "fail", score=1.0), graded("c", "fail", score=0.33)]
    text = drawn.macro("parts.html", "chart", histogram(cases))
    assert 'aria-label="scores of 3 cases from 0 to 1"' in text
    assert re.findall(
        r'class="(\w+)" x="(\S+)" y="(\S+)" .*? height="(\S+)"><title>(.*?)<', text
    ) == [
        ("fail", "6.06", "50.00", "50.00", "0.30 to 0.35: 1 case, fail"),
        ("pass", "19.06", "50.00", "50.00", "0.95 to 1.00: 1 case, pass"),
        ("fail", "19.06", "0.00", "50.00", "0.95 to 1.00: 1 case, fail"),
    ]


@pytest.mark.parametrize(
    ("score", "position"),
    [(0.0, 0), (0.049, 0), (0.05, 1), (0.15, 3), (0.3, 6), (0.7, 14), (1.0, 19)],
)
def test_bins(score: float, position: int) -> None:
    assert bin_of(score) == position
