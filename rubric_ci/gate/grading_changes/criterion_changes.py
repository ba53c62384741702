"""Changes to the grading by criteria: kinds, texts, scales, weights, gates and tags."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Final, assert_never

from rubric_ci.evaluators.assertions.assertion_table import TABLE
from rubric_ci.values.changes import Direction, GradingChange, GradingChangeKind, compared
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.json_value import JSON
from rubric_ci.values.rubric import (
    Assertion,
    Check,
    Chosen,
    Criterion,
    Levelled,
    Rubric,
    Scored,
    is_fault,
    scale,
)
from rubric_ci.values.waivers import SAFETY


def criterion_changes(case: EvalCase, head: Rubric, base: Rubric) -> Iterator[GradingChange]:
    """Yield the changes of the criteria of one evaluator."""
    now, then = ({criterion.id: criterion for criterion in side} for side in (head, base))
    for name in [name for name in then if name not in now]:
        yield of_case(case, "criterion", "weaker", f"{case.id}/{name}", _shown(then[name]), "")
    decided = decided_by_gates(base)
    weights = [
        {name: each.weight for name, each in side.items() if not is_fault(each)}
        for side in (then, now)
    ]
    more_penalty: Direction = "stronger" if all(sum(w.values()) for w in weights) else "weaker"
    for name, criterion in now.items():
        about = f"{case.id}/{name}"
        change = partial(of_case, case, line=criterion.span.line)
        if name not in then:
            lifts = criterion.weight > 0 and not decided
            direction: Direction = "weaker" if lifts else "stronger"
            direction = more_penalty if is_fault(criterion) else direction
            yield change("criterion", direction, about, "", _shown(criterion))
            continue
        yield from _criterion(change, about, criterion, then[name])
        before, after = then[name].weight, criterion.weight
        if is_fault(criterion) is not is_fault(then[name]):
            yield change("criterion", "weaker", about, *map(_weight, (then[name], criterion)))
        elif before != after and is_fault(criterion):
            direction = more_penalty if after > before else "weaker"
            yield change("weight", direction, about, *map(_weight, (then[name], criterion)))
        elif before != after:
            direction = of_weights(name, *weights, decided=decided)
            yield change("weight", direction, about, f"{before:g}", f"{after:g}")


def _weight(criterion: Criterion) -> str:
    return f"{'penalty' if is_fault(criterion) else 'weight'} {criterion.weight:g}"


def decided_by_gates(rubric: Rubric) -> bool:
    """Return True if an answer passes where every gate is met, and fails elsewhere.

    Then no weight and no further criterion lets a failing answer pass.
    """
    return all(_minimum(criterion) == 1 for criterion in rubric if criterion.weight > 0)


def of_weights(
    name: str, then: Mapping[str, float], now: Mapping[str, float], *, decided: bool
) -> Direction:
    """Return the direction of a weight that moved; `decided`: gates alone decide the verdict.

    A part that counts more or less can lift the score of a failing answer, unless all weights have
    moved alike.
    """
    if now[name] == 0:
        return "weaker"
    if then[name] == 0:
        return "stronger" if decided else "weaker"
    return "changed" if decided or _shares(then) == _shares(now) else "weaker"


def _shares(weights: Mapping[str, float]) -> dict[str, Fraction]:
    exact = {name: Fraction(repr(weight)) for name, weight in weights.items()}
    return {name: weight / sum(exact.values()) for name, weight in exact.items()}


def _shown(criterion: Criterion) -> str:
    return criterion.text or "; ".join(scale(criterion))


def _criterion(
    change: "partial[GradingChange]", about: str, now: Criterion, then: Criterion
) -> Iterator[GradingChange]:
    if now.kind != then.kind:
        yield change("criterion", "weaker", about, then.kind, now.kind)
    elif now.text != then.text and not isinstance(now, Assertion):
        yield change("criterion", "changed", about, then.text, now.text)
    if isinstance(now, Assertion) and isinstance(then, Assertion):
        yield from _rule(change, about, now, then)
    elif now.kind == then.kind and (scale(now), _values(now)) != (scale(then), _values(then)):
        direction: Direction = "changed" if _values(now) == _values(then) else "weaker"
        before, after = _scale(then), _scale(now)
        yield change("scale", direction, about, before, after)
    yield from _gate(change, about, then, now)
    if SAFETY in {*now.tags} ^ {*then.tags}:
        dropped = SAFETY in then.tags
        words = (SAFETY, "") if dropped else ("", SAFETY)
        yield change("tag", "weaker" if dropped else "stronger", about, *words)


def _scale(criterion: Criterion) -> str:
    if isinstance(criterion, Chosen):
        return "; ".join(f"{each.name}: {each.score:g}" for each in criterion.choices)
    return "; ".join(scale(criterion))


def _rule(
    change: "partial[GradingChange]", about: str, now: Assertion, then: Assertion
) -> Iterator[GradingChange]:
    """Yield the change of an assertion's value."""
    if now.rule != then.rule:
        yield change("assertion", _of_rules(now, then), about, then.rule, now.rule)


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


def _values(criterion: Criterion) -> list[float]:
    """Return the values of a criterion's levels, 0..1."""
    if isinstance(criterion, Chosen):
        return [each.score for each in criterion.choices]
    if not isinstance(criterion, Levelled):
        return []
    return [_worth(criterion, each.level) for each in criterion.levels]


def _worth(criterion: Levelled, level: int) -> float:
    low, high = criterion.levels[0].level, criterion.levels[-1].level
    return (level - low) / (high - low)


def _gate(
    change: "partial[GradingChange]", about: str, then: Criterion, now: Criterion
) -> Iterator[GradingChange]:
    before, after = _minimum(then), _minimum(now)
    if isinstance(now, Chosen) and isinstance(then, Chosen) and now.required_choices:
        was, is_now = {*then.required_choices}, {*now.required_choices}
        if was != is_now:
            stricter = not was or is_now < was
            yield change(
                "required",
                "stronger" if stricter else "weaker",
                about,
                _requires(then),
                _requires(now),
            )
    elif before != after:
        direction = compared(before, after)
        yield change("required", direction, about, _requires(then), _requires(now))


_NO_GATE: Final = float("-inf")


def _minimum(criterion: Criterion) -> float:
    """Return the least mark that passes a criterion's gate, 0..1; -inf: there is no gate."""
    match criterion:
        case Check() | Assertion():
            return 1 if criterion.required else _NO_GATE
        case Scored():
            least = criterion.required_min_score
            return _NO_GATE if least is None else least / 10
        case Levelled():
            least = criterion.required_min_level
            return _NO_GATE if least is None else _worth(criterion, least)
        case Chosen():
            gates = criterion.required or criterion.required_choices
            return 1 if gates else _NO_GATE
        case _:
            assert_never(criterion)


def _requires(criterion: Criterion) -> str:
    match criterion:
        case Check() | Assertion():
            return "required" if criterion.required else ""
        case Scored():
            least = criterion.required_min_score
            return "" if least is None else f"at least {least}"
        case Levelled():
            least = criterion.required_min_level
            low, high = criterion.levels[0].level, criterion.levels[-1].level
            return "" if least is None else f"at least {least} of {low} to {high}"
        case Chosen():
            return "required" if criterion.required else ", ".join(criterion.required_choices)
        case _:
            assert_never(criterion)


def of_case(
    case: EvalCase,
    kind: GradingChangeKind,
    direction: Direction,
    about: str,
    before: str,
    after: str,
    line: int = 0,
) -> GradingChange:
    """Return a change at a line of a case; 0: at the case."""
    return GradingChange(
        kind=kind,
        direction=direction,
        about=about,
        file=case.file,
        line=line or case.span.line,
        before=before,
        after=after,
    )
