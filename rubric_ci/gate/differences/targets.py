"""Directions of targets: who answers, and how its answers come about."""

from collections.abc import Iterator, Sequence

from rubric_ci.gate.differences.move import Move, Told, narrowed, text
from rubric_ci.values.changes import Direction
from rubric_ci.values.config import (
    CliTarget,
    LlmTarget,
    MockTarget,
    RecordedTarget,
    RunnerTarget,
    Target,
    assumed_dependencies,
)
from rubric_ci.values.walk import ABSENT


def answered_by(move: Move) -> Iterator[Told]:
    """Yield another program or service that answers."""
    if move.before is ABSENT or move.after is ABSENT:
        return
    before, after = asked(move.before), asked(move.after)
    if before and after:
        yield "changed", before, after


def recording(move: Move) -> Iterator[Told]:
    """Yield other answers that are written down, or that are not any more."""
    before, after = answers_of(move.before), answers_of(move.after)
    if before != after:
        yield direction_of(move.before, move.after), before, after


def direction_of(then: Target, now: Target) -> Direction:
    """Return the direction if other answers are graded; those that are written down are weaker."""
    was, is_now = (isinstance(target, RecordedTarget | MockTarget) for target in (then, now))
    if was is is_now:
        return "changed"
    return "weaker" if is_now else "stronger"


def answers_of(target: Target) -> str:
    """Return where the answers come from; recorded and fixed ones with their source."""
    match target:
        case RecordedTarget(answers=path):
            return f"recorded: {path}"
        case MockTarget(response=response):
            return f"fixed: {response}"
        case _:
            return "asked"


def asked(target: Target) -> str:
    """Return the program or service that answers; "" for recorded answers: another row has them."""
    match target:
        case LlmTarget(endpoint=endpoint):
            return f"{'service' if endpoint.http else 'model'} {endpoint.model}"
        case CliTarget(agent=None) | RunnerTarget():
            return f"command {target.command_template}"
        case CliTarget(agent=agent):
            return f"agent {agent.name}" if agent else ""
        case _:
            return ""


def graders(move: Move) -> Iterator[Told]:
    """Yield other graders that decide; none named means all."""
    before, after = set(move.before or ()), set(move.after or ())
    fewer = bool(after) and (not before or bool(before - after))
    yield "weaker" if fewer else "stronger", text(move.before), text(move.after)


def depends_on(move: Move) -> Iterator[Told]:
    """Yield other files that select the cases of a target, unless neither side has written them."""
    then, now = move.above(1)
    if all(side.depends_on == assumed_dependencies(side) for side in (then, now)):
        return
    before, after = then.depends_on, now.depends_on
    yield narrowed(before, after), _globs(before), _globs(after)


def _globs(globs: Sequence[str] | None) -> str:
    return "every file" if globs is None else ", ".join(globs)
