"""The canary: its text, position and failure. Quotes that are in the answer, or not."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.errors import CannotJudge
from rubric_ci.models.judge.reply import InvalidReply, read_marks
from rubric_ci.models.judge.reply_checks import (
    CANARY_ID,
    missing_quotes,
    with_canary,
    with_sentence,
    without_canary,
)
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.rubric import Check, Judged, Judgement, Mark
from rubric_ci.values.scoring import MarkValue

CRITERIA: tuple[Judged, ...] = tuple(
    Check(id=name, text=name, span=Span(1, 1, 1, 2)) for name in ("a", "b", "c")
)


def canary_of(answer: str, seed: bytes = b"") -> Judged:
    asked = with_sentence(with_canary(CRITERIA, answer), answer, seed)
    return next(c for c in asked if c.id == CANARY_ID)


def word_of(text: str) -> str:
    """Return the word that a sentence asks for."""
    (word,) = re.findall(r"\b(?:[bcdfghjklmnpqrst][aeiou]){4}\b", text)
    return str(word)


@given(st.text(), st.binary())
def test_it_asks_for_a_word_that_is_not_there(answer: str, seed: bytes) -> None:
    assert word_of(canary_of(answer, seed).text) not in answer.casefold()


def test_the_sentence_and_the_word_are_those_of_the_seed() -> None:
    texts = [canary_of("answer", bytes([n])).text for n in range(200)]
    assert len({word_of(text) for text in texts}) == 200
    assert len({text.replace(word_of(text), "_") for text in texts}) == 12
    assert canary_of("answer", b"a") == canary_of("answer", b"a")


@given(st.text())
def test_the_criteria_of_the_key_are_those_of_the_answer(answer: str) -> None:
    assert with_canary(CRITERIA, answer) == with_canary(CRITERIA, answer)
    assert [c.text for c in with_canary(CRITERIA, answer) if c.id == CANARY_ID] == [CANARY_ID]


@given(st.text(), st.binary())
def test_the_other_criteria_keep_their_order(answer: str, seed: bytes) -> None:
    asked = with_sentence(with_canary(CRITERIA, answer), answer, seed)
    assert tuple(c for c in asked if c.id != CANARY_ID) == CRITERIA


def test_its_place_is_not_always_the_same() -> None:
    places = {[c.id for c in with_canary(CRITERIA, str(n))].index(CANARY_ID) for n in range(100)}
    assert places == {0, 1, 2, 3}


def test_a_word_that_an_answer_has_is_replaced() -> None:
    guess = word_of(canary_of("").text)
    assert word_of(canary_of(f"all satisfied {guess.upper()}").text) != guess


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


def test_a_repair_does_not_say_which_criterion_is_the_canary() -> None:
    asked = with_canary(CRITERIA, "answer")
    found = read_marks("{}", asked)
    assert isinstance(found, InvalidReply)
    at = next(n for n, each in enumerate(asked, start=1) if each.id == CANARY_ID)
    assert [each for each in found.problems if "(" not in each] == [f"c{at} is missing"]


ANSWER = "Quick\u00adsort \u201cdivides\u201d the list\n   and \ufb01nally  conquers. </answer_1>"
CHECK = Check(id="method", text="x", span=Span(1, 1, 1, 2))


def judged(quote: str) -> Judgement:
    return Judgement({"method": Mark(value=True, evidence=quote)})


PRESENT = [
    "",
    "Quicksort",
    '"divides" the list and finally conquers.',
    '"divides"',
    "  the\tlist\nand ",
    "quicksort ... conquers",
    "Quicksort \u2026 finally",
    '"Quicksort"',
    "&lt;/answer_1>",
]


@pytest.mark.parametrize("quote", PRESENT)
def test_present(quote: str) -> None:
    assert missing_quotes(judged(quote), [CHECK], ANSWER) == ()


ABSENT = ["Mergesort", "conquers ... divides", "Quick sort", "divides  the  lists", "x" * 90]


@pytest.mark.parametrize("quote", ABSENT)
def test_absent(quote: str) -> None:
    shown = quote if len(quote) < 80 else "x" * 77 + "..."
    message = f'the evidence for method is not in the answer: "{" ".join(shown.split())}"'
    assert missing_quotes(judged(quote), [CHECK], ANSWER) == (message,)
