"""Which value of a setting is weaker: the orders of strength that settings have."""

from collections.abc import Callable
from typing import Final

from rubric_ci.model.changes import Direction, compared
from rubric_ci.model.config import Config
from rubric_ci.model.dataclass import dataclass
from rubric_ci.model.json_value import JSON

ALL_PASS: Final = 0.999999  # the rate of a gate without rates; a written 1 is stronger


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A setting with another value at the head; None: it is not set."""

    before: JSON
    after: JSON
    base: Config
    head: Config


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """How the values of a setting compare."""

    weaker: str  # what makes it weaker, for the documentation; empty: nothing is known
    direction: Callable[[Move], Direction]


UNKNOWN: Final = Order(weaker="", direction=lambda _: "changed")


def words(*weakest_first: JSON) -> Order:
    """Return the order of a list of values; others are not comparable."""

    def direction(move: Move) -> Direction:
        if move.before not in weakest_first or move.after not in weakest_first:
            return "changed"
        before, after = (weakest_first.index(value) for value in (move.before, move.after))
        return compared(before, after)

    shown = " < ".join(f"`{str(word).lower()}`" for word in weakest_first)
    return Order(weaker=f"moves to the left in {shown}", direction=direction)


def minimum() -> Order:
    """Return the order of a minimum; without one, nothing is demanded."""
    return Order(
        weaker="lowered or removed",
        direction=lambda move: compared(*_numbers(move, unset=float("-inf"))),
    )


def maximum() -> Order:
    """Return the order of a maximum; without one, anything is allowed."""

    def direction(move: Move) -> Direction:
        before, after = _numbers(move, unset=float("inf"))
        return compared(-before, -after)

    return Order(weaker="raised or removed", direction=direction)


def demand() -> Order:
    """Return the order of a demand that is made or not; what it is about is not comparable."""
    return Order(
        weaker="removed",
        direction=lambda move: compared(move.before is not None, move.after is not None),
    )


def pass_rate() -> Order:
    """Return the order of the pass rate of all cases: without one, no case may fail."""
    return Order(
        weaker="lowered; added below 1, so that failures are tolerated",
        direction=lambda move: compared(*_numbers(move, unset=ALL_PASS)),
    )


def group_rate() -> Order:
    """Return the order of the pass rate of a group.

    Where all cases have a rate, a group's rate is a further demand; else its cases may not fail
    without it.
    """

    def direction(move: Move) -> Direction:
        whole = {move.head.gate.min_pass_rate, move.base.gate.min_pass_rate} - {None}
        return compared(*_numbers(move, unset=0.0 if whole else ALL_PASS))

    return Order(
        weaker="lowered; added below 1 or, where all cases have a rate, removed",
        direction=direction,
    )


def _numbers(move: Move, *, unset: float) -> tuple[float, float]:
    before, after = (
        float(value) if isinstance(value, int | float) else unset
        for value in (move.before, move.after)
    )
    return before, after
