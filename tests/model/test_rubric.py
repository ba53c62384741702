"""The range or level of a mark."""

import pytest

from rubric_ci.model.diagnostics import Span
from rubric_ci.model.rubric import (
    CANNOT_ASSESS,
    Check,
    Criterion,
    Level,
    Levelled,
    Mark,
    MarkValue,
    Scored,
    ScoreRange,
    met,
)

PLACE = Span(1, 1, 1, 2)
CHECK = Check(id="c", text="t", span=PLACE)
SCORED = Scored(
    id="s",
    ranges=(ScoreRange(low=0, high=4, text="thin"), ScoreRange(low=5, high=10, text="deep")),
    span=PLACE,
)
LEVELLED = Levelled(
    id="l",
    levels=(Level(level=1, text="cold"), Level(level=5, name="good", text="warm")),
    span=PLACE,
)


@pytest.mark.parametrize(
    ("criterion", "mark", "expected"),
    [
        (CHECK, True, ""),
        (CHECK, CANNOT_ASSESS, ""),
        (SCORED, 0, "0-4: thin"),
        (SCORED, 4, "0-4: thin"),
        (SCORED, 5, "5-10: deep"),
        (SCORED, CANNOT_ASSESS, ""),
        (LEVELLED, 1, "1: cold"),
        (LEVELLED, 5, "5 (good): warm"),
        (LEVELLED, CANNOT_ASSESS, ""),
    ],
)
def test_met(criterion: Criterion, mark: MarkValue, expected: str) -> None:
    assert met(criterion, Mark(value=mark)) == expected
