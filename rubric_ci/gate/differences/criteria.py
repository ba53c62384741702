"""Directions of criteria and evaluators: what can lift the verdict of a failing answer is weaker.

A further part or another weight cannot where gates alone decide the verdict.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final, assert_never

from rubric_ci.evaluators.assertions.marking import TABLE
from rubric_ci.gate.differences.move import MAXIMUM, Move, Told, text
from rubric_ci.values.changes import Direction, compared
from rubric_ci.values.evals import (
    CodeJudgeSpec,
    CompositeSpec,
    EvaluatorSpec,
    LlmJudgeSpec,
    MeasuringSpec,
    RubricSpec,
    WeightedAverage,
)
from rubric_ci.values.json_value import JSON
from rubric_ci.values.rubric import (
    Assertion,
    Check,
    Chosen,
    Criterion,
    Levelled,
    Scored,
    condition_text,
)
from rubric_ci.values.scales import scale
from rubric_ci.values.waivers import SAFETY
from rubric_ci.values.walk import ABSENT

_NO_GATE: Final = float("-inf")


def part(move: Move) -> Iterator[Told]:
    then, now = move.before, move.after
    if now is ABSENT:
        yield "weaker", _shown(then), ""
    elif then is ABSENT:
        yield _of_addition(move), "", _shown(now)
    elif _kind(then) != _kind(now):
        yield "weaker", _kind(then), _kind(now)


def _of_addition(move: Move) -> Direction:
    if _is_fault(move.after):
        return _of_penalty(move.above(1))
    lifts = move.after.weight > 0 and not gates_decide(move.above(1)[0])
    return "weaker" if lifts else "stronger"


def _is_fault(item: Criterion | EvaluatorSpec) -> bool:
    return isinstance(item, Criterion) and item.fault


def _kind(item: Criterion | EvaluatorSpec) -> str:
    return item.kind if isinstance(item, Criterion) else _shown(item)


def _shown(item: Criterion | EvaluatorSpec) -> str:
    """Return a criterion's text, or the type of an evaluator, with rubrics or without."""
    if isinstance(item, Criterion):
        return item.text or "; ".join(scale(item))
    with_rubrics = isinstance(item, RubricSpec) and item.type != "rubric"
    return f"{item.type} with rubrics" if with_rubrics else item.type


def gates_decide(items: Sequence[Criterion | EvaluatorSpec]) -> bool:
    """Return True if an answer passes where every gate of these is met, and fails elsewhere.

    Then no weight and no further part lets a failing answer pass.
    """
    return all(_is_decided(each) for each in items if each.weight > 0)


def _is_decided(item: Criterion | EvaluatorSpec) -> bool:
    match item:
        case Check() | Assertion() | Scored() | Levelled() | Chosen():
            return _gate(item)[0] == 1
        case RubricSpec(rubric=rubric):
            return gates_decide(rubric.criteria)
        case CompositeSpec(aggregator=WeightedAverage(weights=weights), evaluators=members):
            counted = [each for each in members if weights.get(each.name, each.weight) > 0]
            return all(map(_is_decided, counted))
        case _:
            return False


def weight(move: Move) -> Iterator[Told]:
    then, now = move.above(1)
    if _is_fault(then) and _is_fault(now):
        more = _of_penalty(move.above(2)) if move.after > move.before else "weaker"
        yield more, _weight(then), _weight(now)
    elif _is_fault(then) is _is_fault(now):
        yield _of_weight(move), f"{move.before:g}", f"{move.after:g}"


def fault(move: Move) -> Iterator[Told]:
    then, now = move.above(1)
    yield "weaker", _weight(then), _weight(now)


def _weight(criterion: Criterion) -> str:
    return f"{'penalty' if criterion.fault else 'weight'} {criterion.weight:g}"


def _of_penalty(sides: tuple[Sequence[Criterion], Sequence[Criterion]]) -> Direction:
    """Return the direction of more penalty: without weights, it dilutes the others."""
    weights = [sum(each.weight for each in side if not each.fault) for side in sides]
    return "stronger" if all(weights) else "weaker"


def _of_weight(move: Move) -> Direction:
    """Return the direction of a weight.

    A part that counts more or less can lift the score of a failing answer, unless all weights have
    moved alike.
    """
    then, now = move.above(2)
    decided = gates_decide(then)
    if move.after == 0:
        return "weaker"
    if move.before == 0:
        return "stronger" if decided else "weaker"
    return "changed" if decided or _shares(then) == _shares(now) else "weaker"


def _shares(items: Sequence[Criterion | EvaluatorSpec]) -> Mapping[str, Fraction]:
    counted = (each for each in items if not _is_fault(each))
    exact = {
        (each.id if isinstance(each, Criterion) else each.name): Fraction(repr(each.weight))
        for each in counted
    }
    total = sum(exact.values())
    return {name: weight / total for name, weight in exact.items()} if total else exact


def wording(move: Move) -> Iterator[Told]:
    """Yield another text of a criterion; the rule of an assertion decides, not its text."""
    if not isinstance(move.above(1)[1], Assertion):
        yield "changed", move.before, move.after


def scaled(move: Move) -> Iterator[Told]:
    then, now = move.above(1)
    direction: Direction = "changed" if _values(now) == _values(then) else "weaker"
    yield direction, _scale(then), _scale(now)


def _scale(criterion: Criterion) -> str:
    if isinstance(criterion, Chosen):
        return "; ".join(f"{each.name}: {each.score:g}" for each in criterion.choices)
    return "; ".join(scale(criterion))


def _values(criterion: Criterion) -> list[float]:
    """Return the values of a criterion's levels or choices, 0..1."""
    match criterion:
        case Chosen():
            return [each.score for each in criterion.choices]
        case Levelled():
            return [_worth(criterion, each.level) for each in criterion.levels]
        case _:
            return []


def _worth(criterion: Levelled, level: int) -> float:
    low, high = criterion.levels[0].level, criterion.levels[-1].level
    return (level - low) / (high - low)


def rule(move: Move) -> Iterator[Told]:
    then, now = move.before, move.after
    if now.rule != then.rule:
        yield _of_rules(now, then), then.rule, now.rule


def _of_rules(now: Assertion, then: Assertion) -> Direction:
    """Return the direction of a rule: of its value where the table knows it, weaker for others.

    Another text or pattern is `changed`, as the text of a checklist criterion is.
    """
    if replace(now, value=then.value).rule != then.rule:
        return "weaker"
    growth, ordered = TABLE[now.key].growth, TABLE[now.key].ordered
    if not growth:
        return "changed"
    grown = _contains(now.value, then.value, ordered=ordered)
    shrunk = _contains(then.value, now.value, ordered=ordered)
    if grown is shrunk:
        return "changed" if grown else "weaker"
    inverted = now.negated is not now.fault  # a penalty for what holds: more is stricter
    return "weaker" if (growth == "weaker") is (grown is not inverted) else "stronger"


def _contains(whole: JSON, part: JSON, *, ordered: bool) -> bool:
    """Return True if a number is as large as another, or a list has all of another."""
    if isinstance(whole, list | str):  # a text stands for a list of one
        if ordered:
            left = iter(_listed(whole))
            return all(each in left for each in _listed(part))
        return set(_listed(part)) <= set(_listed(whole))
    return bool(whole >= part)


def _listed(value: JSON) -> list[JSON]:
    return value if isinstance(value, list) else [value]


def condition(move: Move) -> Iterator[Told]:
    then, now = move.before, move.after
    yield ("changed" if then else "weaker"), condition_text(then), condition_text(now)


def required(move: Move) -> Iterator[Told]:
    then, now = move.before, move.after
    before, after = _gate(then), _gate(now)
    if isinstance(then, Chosen) and isinstance(now, Chosen) and now.required_choices:
        was, is_now = {*then.required_choices}, {*now.required_choices}
        if was != is_now:
            stricter = not was or is_now < was
            yield ("stronger" if stricter else "weaker"), before[1], after[1]
    elif before[0] != after[0]:
        yield compared(before[0], after[0]), before[1], after[1]


def _gate(criterion: Criterion) -> tuple[float, str]:
    """Return the least mark that passes a criterion's gate, 0..1, and its words."""
    match criterion:
        case Scored(required_min_score=int(minimum)):
            return minimum / 10, f"at least {minimum}"
        case Levelled(required_min_level=int(minimum)):
            low, high = criterion.levels[0].level, criterion.levels[-1].level
            return _worth(criterion, minimum), f"at least {minimum} of {low} to {high}"
        case Check(required=True) | Assertion(required=True) | Chosen(required=True):
            return 1, "required"
        case Chosen(required_choices=choices) if choices:
            return 1, ", ".join(choices)
        case Check() | Assertion() | Scored() | Levelled() | Chosen():
            return _NO_GATE, ""
        case _:
            assert_never(criterion)


def safety(move: Move) -> Iterator[Told]:
    then, now = (SAFETY in (each or ()) for each in (move.before, move.after))
    if then != now:
        yield ("weaker", SAFETY, "") if then else ("stronger", "", SAFETY)


def setting(move: Move) -> Iterator[Told]:
    """Yield a setting of an evaluator; a limit has a direction, a script or a prompt has none."""
    owner, name = move.above(1)[0], move.path[-1]
    direction: Direction = "changed"
    if isinstance(owner, MeasuringSpec):
        limits = name in owner.maximums
        direction = MAXIMUM.direction(move) if limits else "weaker"
    yield direction, text(move.before), text(move.after)


def minimum_score(move: Move) -> Iterator[Told]:
    before, after = (f"{each:g}" if each else "" for each in (move.before, move.after))
    yield compared(move.before, move.after), before, after


def aggregator(move: Move) -> Iterator[Told]:
    """Yield another way to combine the members; an edited script or prompt is not known."""
    then, now = move.before, move.after
    edited = type(then) is type(now) and isinstance(now, CodeJudgeSpec | LlmJudgeSpec)
    yield "changed" if edited else "weaker", _combined(then), _combined(now)


def _combined(by: Any) -> str:
    name = getattr(by, "type", type(by).__name__)
    weights = getattr(by, "weights", {})
    shown = ", ".join(f"{each}: {value:g}" for each, value in weights.items())
    return shown or str(getattr(by, "script", "") or getattr(by, "prompt", "") or name)
