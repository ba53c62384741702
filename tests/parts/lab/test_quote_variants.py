"""The variants that a criterion must notice, with their exact text, and where a quote stands."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.parts.lab.quote_variants import (
    NOTICED,
    Quote,
    Span,
    around,
    forbidden,
    locate,
    noticeable,
    planted,
    replaced,
    sentences,
    without,
)
from tests.tables import rows

ANSWER = "You can return it within 30 days. Bring the receipt to Anna. We pay on Friday."


def quote(text: str, wanted: str = "", answer: str = ANSWER) -> Quote:
    return Quote(answer=answer, text=text, places=locate(text, answer), wanted=wanted)


def texts(family: str, given: Quote) -> list[str]:
    return [text for text, _ in NOTICED[family](given)]


FAMILIES = """
# quote-deleted: within 30 days
within 30 days
=> You can return it . Bring the receipt to Anna. We pay on Friday.
# sentence-dropped: within 30 days
within 30 days
=> Bring the receipt to Anna. We pay on Friday.
# replaced: We pay on Friday
We pay on Friday
=> You can return it within 30 days. Bring the receipt to Anna. the remaining pa.
# negated: within 30 days
within 30 days
=> You can not return it within 30 days. Bring the receipt to Anna. We pay on Friday.
# negated: the receipt
the receipt
=> You can return it within 30 days. It is not true that bring the receipt to Anna. We pay on
   Friday.
# number-changed: within 30 days
within 30 days
=> You can return it within 40 days. Bring the receipt to Anna. We pay on Friday.
=> You can return it within 70 days. Bring the receipt to Anna. We pay on Friday.
=> You can return it within 10 days. Bring the receipt to Anna. We pay on Friday.
# unit-changed: within 30 days
within 30 days
=> You can return it within 30 weeks. Bring the receipt to Anna. We pay on Friday.
# unit-changed: on Friday
on Friday
=> You can return it within 30 days. Bring the receipt to Anna. We pay on Wednesday.
# name-changed: receipt to Anna
receipt to Anna
=> You can return it within 30 days. Bring the receipt to Brandt. We pay on Friday.
# cut-short: on Friday
on Friday
=> You can return it within 30 days. Bring the receipt to Anna.
# cut-short: within 30 days
within 30 days
# unsupported: on Friday
on Friday
=> You can return it within 30 days.
# blank: on Friday
on Friday
=> ''
"""


@pytest.mark.parametrize(("text", "variants"), rows(FAMILIES))
def test_families(text: str, variants: list[str], request: pytest.FixtureRequest) -> None:
    family, _, _ = request.node.callspec.id.partition(":")
    assert [each or "''" for each in texts(family, quote(text, wanted=ANSWER))] == variants


@pytest.mark.parametrize(
    ("sentence", "turned"),
    [
        ("It is open.", "It is not open."),
        ("It is not open.", "It is open."),
        ("It isn't open.", "It is open."),
        ("You cannot return it.", "You can return it."),
        ("You can\u2019t return it.", "You can return it."),
        ("We won't pay.", "We will pay."),
        ("Bring it.", "It is not true that bring it."),
    ],
)
def test_negation(sentence: str, turned: str) -> None:
    assert texts("negated", quote(sentence, answer=sentence)) == [turned]


def test_facts_count_only_where_the_case_has_them_too() -> None:
    assert texts("number-changed", quote("within 30 days", wanted="Names the limit")) == []
    assert texts("number-changed", quote("within 30 days", wanted="Within 300 days")) == []
    assert texts("name-changed", quote("receipt to Anna", wanted="Is polite")) == []


@pytest.mark.parametrize(
    ("number", "others"),
    [("30", ["40", "70", "10"]), ("0", ["1", "4", "7"]), ("9.50", ["1.50", "4.50", "7.50"])],
)
def test_other_numbers_have_the_same_form(number: str, others: list[str]) -> None:
    answer = f"It is {number} now"
    found = texts("number-changed", quote(number, wanted=number, answer=answer))
    assert found == [f"It is {other} now" for other in others]


def test_each_text_is_made_once_and_lacks_the_quote() -> None:
    found = noticeable(quote("You can return it within 30 days.", wanted="30 days"))
    assert [(each.family, each.change) for each in found] == [
        ("quote-deleted", "without “You can return it within 30 days.”"),
        ("number-changed", "“30” became “40”"),
        ("number-changed", "“30” became “70”"),
        ("number-changed", "“30” became “10”"),
        ("negated", "“You can not return it within 30 days.”"),
        ("replaced", "other words in place of “You can return it within 30 days.”"),
        ("unit-changed", "“days” became “weeks”"),
        ("blank", "an empty answer"),
    ]


def test_a_quote_that_stands_twice_must_not_be_noticed_where_one_is_left() -> None:
    answer = "It takes 5 days. Again: it takes 5 days."
    families = {each.family for each in noticeable(quote("5 days", "5 days", answer))}
    assert families == {"negated", "blank"}


@pytest.mark.parametrize(
    ("criterion", "sentence"),
    [
        ("States the limit", None),
        ("Does not say “refund at once”", "refund at once."),
        ("Never says that parts are free", "Parts are free."),
        ("Does not promise a refund for used parts.", "We promise a refund for used parts."),
        ("Does not mention the competition", "We also want to mention the competition."),
        ("Avoids promising a date", "We are promising a date."),
        ("Does not actually offer a voucher; is polite", "We offer a voucher."),
        ("Does not use slang", ""),
    ],
)
def test_what_a_criterion_forbids(criterion: str, sentence: str | None) -> None:
    assert forbidden(criterion) == sentence


def test_a_forbidden_sentence_is_planted() -> None:
    assert [each.text for each in planted("One. Two.", "Never.")] == [
        "One. Two. Never.",
        "Never. One. Two.",
        "One. Never. Two.",
    ]
    assert [each.text for each in planted("", "Never.")] == ["Never."]


SAID = "You have 30 days. Bring the “receipt”,\nplease! We pay 3.50 euros.\n- one\n- two"


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
    assert [each.of(SAID) for each in locate(quote, SAID)] == found


@pytest.mark.parametrize(
    ("quote", "rest"),
    [
        ("Bring the", "You have 30 days. “receipt”,\nplease! We pay 3.50 euros.\n- one\n- two"),
        ("You have 30 days.", "Bring the “receipt”,\nplease! We pay 3.50 euros.\n- one\n- two"),
        ("We pay 3.50 euros.", "You have 30 days. Bring the “receipt”,\nplease! \n- one\n- two"),
    ],
)
def test_the_text_without_a_quote(quote: str, rest: str) -> None:
    assert without(SAID, locate(quote, SAID)) == rest


def test_the_sentences_around_a_quote() -> None:
    found = around(locate("days ... pay", SAID), SAID)
    assert [each.of(SAID) for each in found] == ["You have 30 days.", "We pay 3.50 euros."]


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
