"""The scale of a criterion in words, and the part of it that a mark meets."""

from itertools import compress
from typing import assert_never

from rubric_ci.values.rubric import Assertion, Check, Chosen, Criterion, Levelled, Mark, Scored
from rubric_ci.values.scoring import CANNOT_ASSESS, NOT_APPLICABLE


def scale(criterion: Criterion, *, between: str = "-", names: bool = True) -> tuple[str, ...]:
    """Return a text per range, level or choice, such as "0-3: wrong", or an assertion's rule."""
    match criterion:
        case Check():
            return ()
        case Assertion():
            return (criterion.rule,)
        case Scored():
            return tuple(f"{r.low}{between}{r.high}: {r.text}" for r in criterion.ranges)
        case Levelled():
            return tuple(
                f"{s.level}{f' ({s.name})' if names and s.name else ''}: {s.text}"
                for s in criterion.levels
            )
        case Chosen():
            return tuple(f"{c.name}: {c.text}" if c.text else c.name for c in criterion.choices)
        case _:
            assert_never(criterion)


def met(criterion: Criterion, mark: Mark) -> str:
    """Return the range, level or described choice of a mark, such as "4-6: polite"; or nothing."""
    value = mark.value
    if value in {CANNOT_ASSESS, NOT_APPLICABLE}:
        return ""
    match criterion:
        case Check() | Assertion():
            return ""
        case Scored():
            holds = [each.low <= int(value) <= each.high for each in criterion.ranges]
        case Levelled():
            holds = [each.level == value for each in criterion.levels]
        case Chosen():
            holds = [each.name == value and bool(each.text) for each in criterion.choices]
        case _:
            assert_never(criterion)
    return next(compress(scale(criterion), holds), "")
