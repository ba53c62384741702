"""The largest set of edits that hold together."""

from collections.abc import Callable
from typing import TypeVar

_Edit = TypeVar("_Edit")


def largest_valid_subset(
    edits: list[_Edit], holds: Callable[[list[_Edit]], bool], attempts: int
) -> list[_Edit]:
    """Return all edits if they hold together, else those that hold, found by halving."""
    valid: list[_Edit] = []
    remaining = [edits] if edits else []
    for _ in range(attempts):
        if not remaining:
            break
        some = remaining.pop()
        if holds([*valid, *some]):
            valid += some
        elif len(some) > 1:
            half = len(some) // 2
            remaining += [some[half:], some[:half]]
    return valid
