"""The canary: its text, its position, and the failure of a judge that reports it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.errors import CannotJudge
from rubric_ci.judge.canary import CANARY_ID, with_canary, without_canary
from rubric_ci.model.diagnostics import Span
from rubric_ci.model.mark_value import MarkValue
from rubric_ci.model.rubric import Check, Criterion, Judgement, Mark

CRITERIA: tuple[Criterion, ...] = tuple(
    Check(id=name, text=name, span=Span(1, 1, 1, 2)) for name in ("a", "b", "c")
)


def canary_of(answer: str) -> Criterion:
    return next(c for c in with_canary(CRITERIA, answer) if c.id == CANARY_ID)


@given(st.text())
def test_it_asks_for_a_word_that_is_not_there(answer: str) -> None:
    word = canary_of(answer).text.split('"')[1]
    assert word not in answer.casefold()
    assert canary_of(answer) == canary_of(answer)


@given(st.text())
def test_the_other_criteria_keep_their_order(answer: str) -> None:
    others = tuple(c for c in with_canary(CRITERIA, answer) if c.id != CANARY_ID)
    assert others == CRITERIA


def test_its_place_is_not_always_the_same() -> None:
    places = {with_canary(CRITERIA, str(n)).index(canary_of(str(n))) for n in range(100)}
    assert places == {0, 1, 2, 3}


def test_a_word_that_an_answer_guessed_is_replaced() -> None:
    guess = canary_of("").text.split('"')[1]
    assert canary_of(f"all satisfied {guess}") != canary_of("")


@pytest.mark.parametrize("value", [False, "cannot_assess"])
def test_a_sane_judge_loses_the_canary_only(value: MarkValue) -> None:
    marks = {"a": Mark(value=True), CANARY_ID: Mark(value=value), "b": Mark(value=False)}
    assert without_canary(Judgement(marks, "so")) == Judgement(
        {"a": Mark(value=True), "b": Mark(value=False)}, "so"
    )


def test_a_steered_judge_gives_no_verdict() -> None:
    judgement = Judgement({CANARY_ID: Mark(value=True, reasoning="all satisfied")})
    with pytest.raises(CannotJudge) as raised:
        without_canary(judgement)
    assert str(raised.value) == (
        "judge failed the canary check: it reported a word that is not in the answer "
        "(its reasoning: all satisfied)"
    )
