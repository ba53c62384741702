"""Votes of `auto`: where it asks again, and that its verdict is that of five votes."""

from collections.abc import Callable, Sequence
from functools import cache
from itertools import product
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.models.judge.voting import PANEL, NoMajority, more_votes, tally
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.rubric import (
    Check,
    Criterion,
    Judgement,
    Level,
    Levelled,
    Mark,
    Rubric,
    Scored,
    ScoreRange,
    score,
)
from rubric_ci.values.scoring import CANNOT_ASSESS, DEFAULT_THRESHOLDS, MarkValue, Verdict

T = TypeVar("T")
SPAN = Span(1, 1, 1, 2)
NO = CANNOT_ASSESS
CHECK = Check(id="c", text="x", required=False, span=SPAN)
GATE = Check(id="c", text="x", required=True, span=SPAN)
SCORED = Scored(id="c", ranges=(ScoreRange(low=0, high=10, text="x"),), span=SPAN)
GATED_SCORE = Scored(id="c", ranges=SCORED.ranges, required_min_score=7, span=SPAN)
LEVELS = (Level(level=1, text="a"), Level(level=2, text="b"), Level(level=4, text="c"))
LEVELLED = Levelled(id="c", levels=LEVELS, span=SPAN)
GATED_LEVEL = Levelled(id="c", levels=LEVELS, required_min_level=1, span=SPAN)


def votes(*values: MarkValue) -> list[Judgement]:
    return [Judgement({"c": Mark(value=value)}) for value in values]


MORE: dict[str, tuple[Criterion, tuple[MarkValue, ...], int]] = {
    "a check that decides": (CHECK, (True,), 2),
    "a gate": (GATE, (True,), 2),
    "a score one above a threshold": (SCORED, (8,), 2),
    "a score one below a threshold": (SCORED, (7,), 2),
    "a score two above a threshold": (SCORED, (9,), 0),
    "a score two below a threshold": (SCORED, (4,), 0),
    "a score at its gate": (GATED_SCORE, (7,), 2),
    "no ground may become any score": (SCORED, (NO,), 2),
    "three that agree": (GATE, (True, True, True), 0),
    "one differs": (GATE, (True, True, False), 1),
    "one of four differs": (GATE, (True, True, False, True), 0),
    "two of four differ": (GATE, (True, True, False, False), 1),
    "scores that cannot leave their verdict": (SCORED, (9, 9, 8), 0),
    "a score that the others could outvote": (SCORED, (8, 7, 9), 1),
    "two of three are worth nothing": (CHECK, (True, False, NO), 1),
    "three of four are worth nothing": (CHECK, (False, True, NO, NO), 0),
    "five are enough": (GATE, (True, True, False, False, True), 0),
}


@pytest.mark.parametrize(("criterion", "values", "more"), MORE.values(), ids=MORE)
def test_more_votes(criterion: Criterion, values: tuple[MarkValue, ...], more: int) -> None:
    found = more_votes(Rubric((criterion,)), votes(*values), len(values), DEFAULT_THRESHOLDS)
    assert found == more


def test_a_mark_that_does_not_decide_alone_is_not_asked_again() -> None:
    many = Rubric(tuple(Check(id=f"{n}", text="x", required=False, span=SPAN) for n in range(6)))
    vote = Judgement({c.id: Mark(value=True) for c in many})
    assert more_votes(many, [vote], 1, DEFAULT_THRESHOLDS) == 0  # 5 of 6 pass


FAR = (Level(level=1, text="a"), Level(level=4, text="b"), Level(level=5, text="c"))


def test_the_step_after_the_lowest_level_can_matter() -> None:
    rubric = Rubric((Levelled(id="c", levels=FAR, span=SPAN),))
    assert more_votes(rubric, votes(1), 1, DEFAULT_THRESHOLDS) == 2  # level 4 is borderline


def both(first: MarkValue, second: MarkValue) -> Judgement:
    return Judgement({"first": Mark(value=first), "second": Mark(value=second)})


def test_a_score_is_at_most_ten() -> None:
    top = Scored(id="first", ranges=SCORED.ranges, weight=3, span=SPAN)
    low = Scored(id="second", ranges=SCORED.ranges, weight=1, span=SPAN)
    # 0.75 is borderline, and one step of either stays so; an eleventh point of 3/4 would pass
    assert more_votes(Rubric((top, low)), [both(10, 0)], 1, DEFAULT_THRESHOLDS) == 0


def test_no_ground_for_a_level_misses_the_gate_that_the_lowest_level_meets() -> None:
    gate = Levelled(id="first", levels=LEVELS, weight=1, required_min_level=1, span=SPAN)
    rest = Scored(id="second", ranges=SCORED.ranges, weight=9, span=SPAN)
    panel = [both(NO, 10), both(1, 10), both(1, 10)]
    assert more_votes(Rubric((gate, rest)), panel, 3, DEFAULT_THRESHOLDS) == 1


def test_a_lost_vote_is_one_of_the_five() -> None:
    assert more_votes(Rubric((GATE,)), votes(True, True), 3, DEFAULT_THRESHOLDS) == 1
    assert more_votes(Rubric((GATE,)), votes(True, True, True), 4, DEFAULT_THRESHOLDS) == 0
    assert more_votes(Rubric((GATE,)), votes(True, True), 5, DEFAULT_THRESHOLDS) == 0


def verdict(rubric: Rubric, panel: Sequence[Judgement]) -> Verdict | None:
    found = tally(rubric, panel, len(panel))
    if isinstance(found, NoMajority):
        return None
    return score(rubric, found, DEFAULT_THRESHOLDS).verdict


def taken(sequence: tuple[T, ...], more: Callable[[tuple[T, ...]], int]) -> tuple[T, ...]:
    """Return the votes of a sequence that `auto` takes."""
    count = 1
    while further := more(sequence[:count]):
        count += further
    assert count <= PANEL
    return sequence[:count]


@pytest.mark.parametrize(
    ("criterion", "marks"),
    [
        pytest.param(CHECK, (True, False, NO), id="check"),
        pytest.param(GATE, (True, False, NO), id="gate"),
        pytest.param(LEVELLED, (1, 2, 4, NO), id="level"),
        pytest.param(GATED_LEVEL, (1, 2, 4, NO), id="level with a gate at the lowest"),
        pytest.param(SCORED, (5, 6, 8, NO), id="score"),
        pytest.param(GATED_SCORE, (0, 7, 10), id="score with a gate"),
    ],
)
def test_a_sequence_ends_as_five_do(criterion: Criterion, marks: tuple[MarkValue, ...]) -> None:
    rubric = Rubric((criterion,))

    @cache  # many sequences begin alike
    def more(values: tuple[MarkValue, ...]) -> int:
        return more_votes(rubric, votes(*values), len(values), DEFAULT_THRESHOLDS)

    @cache
    def of(values: tuple[MarkValue, ...]) -> Verdict | None:
        return verdict(rubric, votes(*values))

    begun = {values: taken(values, more) for values in product(marks, repeat=PANEL)}
    asked = {values: found for values, found in begun.items() if len(found) > 1}
    assert asked
    assert [values for values, found in asked.items() if of(found) != of(values)] == []


MIXED = Rubric(
    (
        Check(id="gate", text="x", required=True, span=SPAN),
        Check(id="check", text="x", required=False, weight=2, span=SPAN),
        Scored(id="score", ranges=SCORED.ranges, weight=3, span=SPAN),
        Levelled(id="level", levels=LEVELS, required_min_level=2, span=SPAN),
    )
)
VOTE = st.builds(
    lambda *marks: Judgement(dict(zip(["gate", "check", "score", "level"], marks, strict=True))),
    *(
        st.sampled_from([Mark(value=value) for value in values])
        for values in ((True, True, False, NO), (True, False, NO), (*range(11), NO), (1, 2, 4, NO))
    ),
)


@given(st.lists(VOTE, min_size=PANEL, max_size=PANEL))
def test_five_votes_of_a_mixed_rubric_always_decide(sequence: list[Judgement]) -> None:
    assert verdict(MIXED, sequence) is not None


@given(st.lists(VOTE, min_size=PANEL, max_size=PANEL))
def test_sequences_of_a_mixed_rubric_have_the_verdict_of_five(sequence: list[Judgement]) -> None:
    def more(panel: tuple[Judgement, ...]) -> int:
        return more_votes(MIXED, panel, len(panel), DEFAULT_THRESHOLDS)

    found = taken(tuple(sequence), more)
    assert len(found) == 1 or verdict(MIXED, found) == verdict(MIXED, sequence)
