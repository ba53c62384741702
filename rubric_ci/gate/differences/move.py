"""A value that another one has replaced, and how the values of a setting compare."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, TypeAlias

from rubric_ci.values.changes import Direction, compared
from rubric_ci.values.config import Config
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.json_value import JSON
from rubric_ci.values.walk import ABSENT, Path, canonical, facts

ALL_PASS: Final = 0.999999  # the rate of a gate without rates; a written 1 is stronger


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A place with another value at the head; None: it is not set there."""

    before: Any
    after: Any
    base: Config  # of both sides
    head: Config
    path: Path = ()
    owners: tuple[tuple[Any, Any], ...] = ()  # the values above it, on both sides
    asked_for: Callable[[EvalCase], bool] = lambda _: True  # the options of the run choose a case

    def above(self, steps: int) -> tuple[Any, Any]:
        """Return the values that many steps above the place, before and after."""
        return self.owners[-steps]


Told: TypeAlias = tuple[Direction, str, str]
"""A change of the grading: its direction, and the texts of before and after."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    weaker: str  # what makes it weaker, for the documentation; empty: nothing is known
    direction: Callable[[Move], Direction]

    def __call__(self, move: Move) -> Iterator[Told]:
        """Yield the change, if there is something to show."""
        was, now = (None if each is ABSENT else each for each in (move.before, move.after))
        before, after = text(was), text(now)
        if before or after:
            yield self.direction(replace(move, before=was, after=now)), before, after


UNKNOWN: Final = Order(weaker="", direction=lambda _: "changed")


def text(value: Any) -> str:
    """Return a value as a change shows it; "": it is not set."""
    match value:
        case _ if value is None or value is ABSENT or value in ("", (), [], {}):
            return ""
        case str():
            return value
        case bool() | int() | float():
            return str(value)
        case tuple() | list() if all(isinstance(each, str | int | float) for each in value):
            return ", ".join(map(str, value))
        case Mapping() | tuple() | list():
            return canonical(facts(value))
    named = getattr(value, "name", "") or getattr(value, "model", "")
    return named or canonical(facts(value)).removeprefix("{}")


def words(*weakest_first: JSON) -> Order:
    def direction(move: Move) -> Direction:
        if move.before not in weakest_first or move.after not in weakest_first:
            return "changed"
        before, after = (weakest_first.index(value) for value in (move.before, move.after))
        return compared(before, after)

    shown = " < ".join(f"`{str(word).lower()}`" for word in weakest_first)
    return Order(weaker=f"moves to the left in {shown}", direction=direction)


def _limit(weaker: str, unset: float, sign: int = 1) -> Order:
    """Return the order of a number; `unset` is its value where there is none."""

    def direction(move: Move) -> Direction:
        before, after = _numbers(move, unset=unset)
        return compared(sign * before, sign * after)

    return Order(weaker=weaker, direction=direction)


def _group_rate(move: Move) -> Direction:
    # Where all cases have a rate, a group's is a further demand; else its cases may not fail
    # without it.
    whole = {move.head.gate.min_pass_rate, move.base.gate.min_pass_rate} - {None}
    return compared(*_numbers(move, unset=0.0 if whole else ALL_PASS))


def _numbers(move: Move, *, unset: float) -> tuple[float, float]:
    before, after = (
        float(value) if isinstance(value, int | float) else unset
        for value in (move.before, move.after)
    )
    return before, after


def narrowed(before: Any, after: Any, *, mixed: Direction = "changed") -> Direction:
    """Return `weaker` if the second set lacks a member of the first; None has every member.

    `mixed`: where it also has a new one, as two globs may match the same files.
    """
    if before is None or after is None:
        return "weaker" if before is None else "stronger"
    gone, new = set(before) - set(after), set(after) - set(before)
    if gone:
        return mixed if new else "weaker"
    return "stronger" if new else "changed"


MINIMUM: Final = _limit("lowered or removed", float("-inf"))
MAXIMUM: Final = _limit("raised or removed", float("inf"), -1)
PASS_RATE: Final = _limit("lowered; added below 1, so that failures are tolerated", ALL_PASS)
GROUP_RATE: Final = Order(
    weaker="lowered; added below 1 or, where all cases have a rate, removed", direction=_group_rate
)
DEMAND: Final = Order(  # its content is not comparable
    weaker="removed", direction=lambda move: compared(bool(move.before), bool(move.after))
)
KEPT: Final = Order(  # a part of the grading; how an edit moves it is not known
    weaker="removed", direction=lambda move: "weaker" if move.after is None else "changed"
)
CHOSEN: Final = Order(  # names that choose cases; without one, every case is chosen
    weaker="a name is dropped; added where there was none, so that other cases do not count",
    direction=lambda move: narrowed(move.before or None, move.after or None, mixed="weaker"),
)
LEFT_OUT: Final = Order(
    weaker="a name is added",
    direction=lambda move: narrowed(move.after or [], move.before or [], mixed="weaker"),
)
GLOBS: Final = Order(  # of `depends_on`; None is every file of the repository
    weaker="a glob is removed", direction=lambda move: narrowed(move.before, move.after)
)
