"""The directions of criteria and weights: what can lift a failing answer is weaker."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from rubric_ci.gate.differences.case_changes import changes_of
from rubric_ci.gate.differences.criteria import gates_decide
from rubric_ci.values.changes import GradingChange
from rubric_ci.values.config import Config
from rubric_ci.values.evals import RubricSpec
from rubric_ci.values.rubric import (
    Assertion,
    Check,
    Criterion,
    Level,
    Levelled,
    Rubric,
    Scored,
    ScoreRange,
)
from tests.cases import build_case, span

SPAN = span()

CASE = build_case(id="a")
GATE = Check(id="gate", text="Is right", span=SPAN)
OTHER = replace(GATE, id="other")
FAULT = Check(id="fault", text="Lies", weight=2, required=False, fault=True, span=SPAN)
SOFT = Check(id="soft", text="Is kind", required=False, span=SPAN)
RANGES = (ScoreRange(low=0, high=10, text="any"),)
SCORED = Scored(id="scored", ranges=RANGES, span=SPAN)
LEVELS = Levelled(
    id="levels", levels=tuple(Level(level=n, text=f"{n}") for n in (1, 2, 3)), span=SPAN
)


@pytest.mark.parametrize(
    ("criteria", "decided"),
    [
        ([GATE], True),
        ([GATE, SOFT], False),
        ([GATE, replace(SOFT, weight=0)], True),
        ([replace(SCORED, required_min_score=10)], True),
        ([replace(SCORED, required_min_score=9)], False),
        ([replace(LEVELS, required_min_level=3)], True),
        ([replace(LEVELS, required_min_level=2)], False),
        ([SCORED], False),
        ([LEVELS], False),
        ([replace(LEVELS, levels=LEVELS.levels[:2], required_min_level=2)], True),
    ],
)
def test_whether_gates_alone_decide(criteria: list[Criterion], decided: bool) -> None:
    assert gates_decide(criteria) is decided


@pytest.mark.parametrize(
    ("then", "now", "decided", "expected"),
    [
        ({"a": 1, "b": 1}, {"a": 2, "b": 1}, False, "weaker"),
        ({"a": 1, "b": 1}, {"a": 2, "b": 1}, True, "changed"),
        ({"a": 1, "b": 3}, {"a": 2, "b": 6}, False, "changed"),
        ({"a": 1, "b": 3}, {"a": 0, "b": 3}, True, "weaker"),
        ({"a": 0, "b": 3}, {"a": 1, "b": 3}, True, "stronger"),
        ({"a": 0, "b": 3}, {"a": 1, "b": 3}, False, "weaker"),
        ({"a": 1}, {"a": 2}, False, "changed"),
        ({"a": 0.1, "b": 0.2}, {"a": 0.3, "b": 0.6}, False, "changed"),
        ({"a": 1}, {"a": 2, "b": 2}, False, "weaker"),
    ],
)
def test_a_weight_that_moved(
    then: dict[str, float], now: dict[str, float], decided: bool, expected: str
) -> None:
    kind = GATE if decided else SOFT
    before, after = (
        [replace(kind, id=name, weight=weight) for name, weight in side.items()]
        for side in (then, now)
    )
    found = criterion_changes(after, before)
    assert [c.direction for c in found if (c.about, c.kind) == ("a/a", "weight")] == [expected]


RENUMBERED = replace(
    LEVELS, levels=tuple(replace(each, level=each.level + 4) for each in LEVELS.levels)
)
STRETCHED = replace(LEVELS, levels=(Level(level=-9, text="never"), *LEVELS.levels[1:]))
SAYS = Assertion(id="says", text="Says it", key="contains", value="30", span=SPAN)
ANY = replace(SAYS, key="contains_any", value=["a", "b"])
ALL = replace(SAYS, key="contains_all", value=["a", "b"])
NEVER = replace(SAYS, key="never_called", value=["Write", "Edit"])
MOST = replace(SAYS, key="max_words", value=20)
LEAST = replace(SAYS, key="min_words", value=20)
RULES: dict[str, tuple[Assertion, Assertion, str]] = {
    "another text": (SAYS, replace(SAYS, value="60"), "changed"),
    "another key": (SAYS, replace(SAYS, key="equals"), "weaker"),
    "inverted": (SAYS, replace(SAYS, negated=True), "weaker"),
    "another field": (SAYS, replace(SAYS, field="a"), "weaker"),
    "case ignored": (SAYS, replace(SAYS, ignore_case=True), "weaker"),
    "one more of any": (ANY, replace(ANY, value=["b", "a", "c"]), "weaker"),
    "one fewer of any": (ANY, replace(ANY, value=["a"]), "stronger"),
    "others of any": (ANY, replace(ANY, value=["a", "c"]), "weaker"),
    "another order of any": (ANY, replace(ANY, value=["b", "a"]), "changed"),
    "one more of all": (ALL, replace(ALL, value=["a", "b", "c"]), "stronger"),
    "one fewer of all": (ALL, replace(ALL, value=["b"]), "weaker"),
    "a shorter `never_called`": (NEVER, replace(NEVER, value=["Write"]), "weaker"),
    "a longer `never_called`": (NEVER, replace(NEVER, value=["Write", "Edit", "Bash"]), "stronger"),
    "one name of `never_called`": (NEVER, replace(NEVER, value="Edit"), "weaker"),
    "more words": (MOST, replace(MOST, value=30), "weaker"),
    "as many words, written otherwise": (MOST, replace(MOST, value=20.0), "changed"),
    "fewer words": (MOST, replace(MOST, value=10), "stronger"),
    "more words at least": (LEAST, replace(LEAST, value=30), "stronger"),
    "fewer words at least": (LEAST, replace(LEAST, value=10), "weaker"),
    "not more words": (
        replace(MOST, negated=True), replace(MOST, negated=True, value=30), "stronger",
    ),
    "one more fault of any": (
        replace(ANY, fault=True), replace(ANY, fault=True, value=["a", "b", "c"]), "stronger",
    ),
    "not fewer words": (
        replace(MOST, negated=True), replace(MOST, negated=True, value=10), "weaker",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("then", "now", "direction"), RULES.values(), ids=RULES)
def test_what_an_assertion_demands(then: Assertion, now: Assertion, direction: str) -> None:
    [change] = criterion_changes([now], [then])
    found = (change.direction, change.kind, change.before, change.after)
    assert found == (direction, "assertion", then.rule, now.rule)


TABLE: dict[str, tuple[list[Criterion], list[Criterion], list[str]]] = {
    "added beside a gate": ([GATE], [GATE, SOFT], ["stronger criterion a/soft:  → Is kind"]),
    "added beside a score": (
        [GATE, SCORED], [GATE, SCORED, SOFT], ["weaker criterion a/soft:  → Is kind"],
    ),
    "added without a weight": (
        [SCORED], [SCORED, replace(GATE, weight=0)], ["stronger criterion a/gate:  → Is right"],
    ),
    "a penalty added": (
        [GATE], [GATE, FAULT], ["stronger criterion a/fault:  → Lies"],
    ),
    "a penalty added where nothing has a weight": (
        [FAULT], [FAULT, replace(FAULT, id="other")], ["weaker criterion a/other:  → Lies"],
    ),
    "a larger penalty": (
        [GATE, FAULT], [GATE, replace(FAULT, weight=3)],
        ["stronger weight a/fault: penalty 2 → penalty 3"],
    ),
    "a smaller penalty": (
        [GATE, FAULT], [GATE, replace(FAULT, weight=1)],
        ["weaker weight a/fault: penalty 2 → penalty 1"],
    ),
    "a fault that becomes a demand": (
        [GATE, FAULT], [GATE, replace(FAULT, fault=False)],
        ["weaker criterion a/fault: penalty 2 → weight 2"],
    ),
    "removed": ([GATE, SOFT], [GATE], ["weaker criterion a/soft: Is kind → "]),
    "another kind": (
        [GATE], [replace(SCORED, id="gate", required_min_score=10)],
        ["weaker criterion a/gate: checklist → score-range"],
    ),
    "the text of an assertion": ([SAYS], [replace(SAYS, text="Says 30")], []),
    "an assertion that a judge replaces": (
        [SAYS], [replace(GATE, id="says")], ["weaker criterion a/says: assertion → checklist"],
    ),
    "an assertion that is not required": (
        [SAYS], [replace(SAYS, required=False)], ["weaker required a/says: required → "],
    ),
    "a weight": (
        [GATE, SOFT], [GATE, replace(SOFT, weight=2)], ["weaker weight a/soft: 1 → 2"],
    ),
    "a weight beside gates": (
        [GATE, OTHER], [GATE, replace(OTHER, weight=2)], ["changed weight a/other: 1 → 2"],
    ),
    "reworded": (
        [GATE], [replace(GATE, text="Is wrong")], ["changed criterion a/gate: Is right → Is wrong"],
    ),
    "required dropped": (
        [GATE], [replace(GATE, required=False)], ["weaker required a/gate: required → "],
    ),
    "minimum lowered": (
        [replace(SCORED, required_min_score=4)], [replace(SCORED, required_min_score=2)],
        ["weaker required a/scored: at least 4 → at least 2"],
    ),
    "minimum dropped": (
        [replace(SCORED, required_min_score=4)], [SCORED],
        ["weaker required a/scored: at least 4 → "],
    ),
    "level of a scale from 5": (
        [RENUMBERED], [replace(RENUMBERED, required_min_level=5)],
        ["stronger required a/levels:  → at least 5 of 5 to 7"],
    ),
    "safe": (
        [GATE], [replace(GATE, tags=("safety", "x"))], ["stronger tag a/gate:  → safety"],
    ),
    "no longer safe": ([replace(GATE, tags=("safety",))], [GATE], ["weaker tag a/gate: safety → "]),
    "a gate of levels": (
        [LEVELS], [replace(LEVELS, required_min_level=2)],
        ["stronger required a/levels:  → at least 2 of 1 to 3"],
    ),
    "levels that are worth the same": (
        [LEVELS], [RENUMBERED], ["changed scale a/levels: 1: 1; 2: 2; 3: 3 → 5: 1; 6: 2; 7: 3"],
    ),
    "levels that are worth more": (
        [LEVELS], [STRETCHED], ["weaker scale a/levels: 1: 1; 2: 2; 3: 3 → -9: never; 2: 2; 3: 3"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("base", "head", "expected"), TABLE.values(), ids=TABLE)
def test_criteria(base: list[Criterion], head: list[Criterion], expected: list[str]) -> None:
    found = criterion_changes(head, base)
    assert [f"{c.direction} {c.kind} {c.about}: {c.before} → {c.after}" for c in found] == expected


def test_the_line_of_a_criterion() -> None:
    [change] = criterion_changes([GATE, replace(SOFT, span=span(7))], [GATE])
    assert change.line == 7
    [change] = criterion_changes([GATE], [GATE, SOFT])
    assert change.line == CASE.span.line


def criterion_changes(head: Sequence[Criterion], base: Sequence[Criterion]) -> list[GradingChange]:
    now, then = (
        replace(CASE, evaluators=(RubricSpec(name="r", rubric=Rubric((*each,)), span=SPAN),))
        for each in (head, base)
    )
    return list(changes_of(now, then, Config()))
