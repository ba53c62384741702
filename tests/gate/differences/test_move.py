"""Orders of strength: which of two values is weaker, in both directions, and in words."""

from dataclasses import replace

import pytest

from rubric_ci.gate.differences.move import (
    CHOSEN,
    DEMAND,
    GROUP_RATE,
    KEPT,
    LEFT_OUT,
    MAXIMUM,
    MINIMUM,
    PASS_RATE,
    Move,
    Order,
    words,
)
from rubric_ci.values.changes import Direction
from rubric_ci.values.config import Config
from rubric_ci.values.gate import GateConfig
from rubric_ci.values.json_value import JSON

RATED = Config(gate=GateConfig(min_pass_rate=0.5))
OPPOSITE: dict[Direction, Direction] = {
    "weaker": "stronger",
    "stronger": "weaker",
    "changed": "changed",
}
Named = tuple[Order, str]


WORDS: Named = (words("off", "on"), "moves to the left in `off` < `on`")
LEAST: Named = (MINIMUM, "lowered or removed")
MOST: Named = (MAXIMUM, "raised or removed")
DEMANDED: Named = (DEMAND, "removed")
RATE: Named = (PASS_RATE, "lowered; added below 1, so that failures are tolerated")
GROUP: Named = (GROUP_RATE, "lowered; added below 1 or, where all cases have a rate, removed")
NAMES: Named = (
    CHOSEN,
    "a name is dropped; added where there was none, so that other cases do not count",
)
OTHERS: Named = (LEFT_OUT, "a name is added")
TABLE: list[tuple[Named, JSON, JSON, Config, Direction]] = [
    (WORDS, "on", "off", Config(), "weaker"),
    (WORDS, "on", "else", Config(), "changed"),
    (WORDS, None, "on", Config(), "changed"),
    (LEAST, 0.6, 0.5, Config(), "weaker"),
    (LEAST, -1, None, Config(), "weaker"),
    (MOST, 1, 2, Config(), "weaker"),
    (MOST, 9, None, Config(), "weaker"),
    (DEMANDED, "without-skill", None, Config(), "weaker"),
    (DEMANDED, "without-skill", "another", Config(), "changed"),
    (RATE, 0.6, 0.5, Config(), "weaker"),
    (RATE, None, 0.99, Config(), "weaker"),
    (RATE, 1, None, Config(), "weaker"),
    (GROUP, None, 0.99, Config(), "weaker"),
    (GROUP, 1, None, Config(), "weaker"),
    (GROUP, 0.1, None, RATED, "weaker"),
    (NAMES, ["must", "safety"], ["safety"], Config(), "weaker"),
    (NAMES, None, ["must"], Config(), "weaker"),
    (OTHERS, None, ["flaky"], Config(), "weaker"),
    (OTHERS, ["flaky"], ["flaky", "slow"], Config(), "weaker"),
]


@pytest.mark.parametrize(("order", "before", "after", "either", "expected"), TABLE)
def test_the_weaker_of_two_values(
    order: Named, before: JSON, after: JSON, either: Config, expected: Direction
) -> None:
    made, said = order
    assert made.weaker == said
    for base, head in ((either, Config()), (Config(), either)):
        move = Move(before=before, after=after, base=base, head=head)
        back = Move(before=after, after=before, base=base, head=head)
        assert made.direction(move) == expected
        assert made.direction(back) == OPPOSITE[expected]


@pytest.mark.parametrize("order", [CHOSEN, LEFT_OUT])
def test_names_that_are_exchanged_are_weaker(order: Order) -> None:
    """Cases that decided do not, whatever others do."""
    move = Move(before=["must"], after=["nice"], base=Config(), head=Config())
    assert order.direction(move) == "weaker"
    assert order.direction(replace(move, after=["must"])) == "changed"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [("{}", None, "weaker"), (None, "{}", "changed"), ("{}", "[]", "changed")],
)
def test_a_part_of_the_grading_that_is_removed_is_weaker(
    before: JSON, after: JSON, expected: Direction
) -> None:
    assert KEPT.weaker == "removed"
    move = Move(before=before, after=after, base=Config(), head=Config())
    assert KEPT.direction(move) == expected
