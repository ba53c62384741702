"""Where a quote stands, and what a text is without it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.parts.lab.quote_variants import Span, around, locate, replaced, sentences, without

ANSWER = "You have 30 days. Bring the “receipt”,\nplease! We pay 3.50 euros.\n- one\n- two"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", []),
        (" \n ", []),
        ("One. Two!\n\nThree?", ["One.", "Two!", "Three?"]),
        ("It costs 3.50 euros. Done", ["It costs 3.50 euros.", "Done"]),
        ("- one\n- two\n", ["- one", "- two"]),
    ],
)
def test_sentences(text: str, parts: list[str]) -> None:
    assert [each.of(text) for each in sentences(text)] == parts


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("30 days", ["30 days"]),
        ("You  have\n30 DAYS", ["You have 30 days"]),
        ('the "receipt", please', ["the “receipt”,\nplease"]),
        ('"You have 30 days."', ["You have 30 days."]),
        ("You have ... We pay", ["You have", "We pay"]),
        ("We pay … You have", []),
        ("40 days", []),
        ("", []),
        ("...", []),
    ],
)
def test_the_place_of_a_quote(quote: str, found: list[str]) -> None:
    assert [each.of(ANSWER) for each in locate(quote, ANSWER)] == found


@pytest.mark.parametrize(
    ("quote", "rest"),
    [
        ("Bring the", "You have 30 days. “receipt”,\nplease! We pay 3.50 euros.\n- one\n- two"),
        ("You have 30 days.", "Bring the “receipt”,\nplease! We pay 3.50 euros.\n- one\n- two"),
        ("We pay 3.50 euros.", "You have 30 days. Bring the “receipt”,\nplease! \n- one\n- two"),
    ],
)
def test_the_text_without_a_quote(quote: str, rest: str) -> None:
    assert without(ANSWER, locate(quote, ANSWER)) == rest


def test_the_sentences_around_a_quote() -> None:
    found = around(locate("days ... pay", ANSWER), ANSWER)
    assert [each.of(ANSWER) for each in found] == ["You have 30 days.", "We pay 3.50 euros."]


@given(st.text(alphabet="ab .!?\n", max_size=60))
def test_sentences_are_in_order_and_leave_out_white_space_only(text: str) -> None:
    found = sentences(text)
    assert list(found) == sorted(found)
    assert replaced(text, dict.fromkeys(found, "x")).replace("x", "").strip() == ""


@given(st.text(alphabet="ab .\n'", min_size=1, max_size=60), st.data())
def test_a_piece_of_a_text_is_found_in_it(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    piece = text[start : data.draw(st.integers(start + 1, len(text)))]
    if piece.strip(" \n\"'") and ".." not in piece:
        assert locate(piece, text) != ()


def test_spans_overlap() -> None:
    assert Span(0, 2).overlaps(Span(1, 3))
    assert not Span(0, 2).overlaps(Span(2, 3))
