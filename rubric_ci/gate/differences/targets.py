"""Directions of targets: who answers, and how its answers come about."""

from collections.abc import Iterator, Sequence

from rubric_ci.gate.differences.move import Move, Told, narrowed, text
from rubric_ci.values.changes import Direction
from rubric_ci.values.config import (
    Target,
)
from rubric_ci.values.walk import ABSENT


def answered_by(move: Move) -> Iterator[Told]:
    """Yield another program or service that answers."""
    if move.before is ABSENT or move.after is ABSENT:
        return
    before, after = move.before.answered_by, move.after.answered_by
    if before and after:
        yield "changed", before, after


def recording(move: Move) -> Iterator[Told]:
    """Yield other answers that are written down, or that are not any more."""
    before, after = move.before.source, move.after.source
    if before != after:
        yield direction_of(move.before, move.after), before, after


def direction_of(then: Target, now: Target) -> Direction:
    """Return the direction if other answers are graded; those that are written down are weaker."""
    if then.is_at_hand is now.is_at_hand:
        return "changed"
    return "weaker" if now.is_at_hand else "stronger"


def graders(move: Move) -> Iterator[Told]:
    """Yield other graders that decide; none named means all."""
    before, after = set(move.before or ()), set(move.after or ())
    fewer = bool(after) and (not before or bool(before - after))
    yield "weaker" if fewer else "stronger", text(move.before), text(move.after)


def depends_on(move: Move) -> Iterator[Told]:
    """Yield other files that select the cases of a target, unless neither side has written them."""
    then, now = move.above(1)
    if all(side.depends_on == side.assumed_dependencies for side in (then, now)):
        return
    before, after = then.depends_on, now.depends_on
    yield narrowed(before, after), _globs(before), _globs(after)


def _globs(globs: Sequence[str] | None) -> str:
    return "every file" if globs is None else ", ".join(globs)
