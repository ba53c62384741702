"""In which order and in which groups a judge sees the criteria of a rubric."""

import hashlib
from collections.abc import Sequence
from typing import TypeAlias

from rubric_ci.model.rubric import Criterion

Group: TypeAlias = tuple[Criterion, ...]

AT_MOST = 20  # criteria in one request: judges lose track of more


def shuffled(criteria: Sequence[Criterion], vote: int) -> tuple[Criterion, ...]:
    """Return the order for a vote, from 1: the first as in the file, each other one its own."""
    if vote == 1:
        return tuple(criteria)
    places = sorted(range(len(criteria)), key=lambda place: _lot(vote, place))
    return tuple(criteria[place] for place in places)


def grouped(
    criteria: Sequence[Criterion], most: int = AT_MOST
) -> tuple[tuple[Criterion, ...], ...]:
    """Split into as few groups of at most `most` as can be, none much smaller than another."""
    count = -(-len(criteria) // most)
    size, larger = divmod(len(criteria), count)
    groups, start = [], 0
    for n in range(count):
        end = start + size + (n < larger)
        groups.append(tuple(criteria[start:end]))
        start = end
    return tuple(groups)


def _lot(vote: int, place: int) -> str:
    return hashlib.sha256(f"{vote}:{place}".encode()).hexdigest()
