"""Warnings about drafts: a table of criteria and their warnings."""

import pytest

from rubric_ci.services.drafting.draft_check import lint
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.rubric import Check, Rubric
from tests.cases import build_case, text_message

SPAN = Span(1, 1, 1, 2)
REFERENCE = "You can send it back to us in Kiel within 30 days for a refund."
CASE = build_case(
    expected_outcome="Offers a refund within 30 days and names the return address",
    expected_messages=(text_message(REFERENCE, "assistant"),),
)


def check(*texts: str) -> tuple[str, ...]:
    criteria = tuple(Check(id=f"c{n}", text=text, span=SPAN) for n, text in enumerate(texts, 1))
    return lint(Rubric(criteria), CASE)


@pytest.mark.parametrize(
    "text",
    [
        "Names the 30-day limit",
        "Lists salt and pepper as ingredients",
        "Does not promise a date, e.g. next Monday",
        "Warns of side effects such as nausea or headache",
        "States the time complexity as O(n log n)",
        "Nennt die Frist von 30 Tagen",
    ],
)
def test_no_warning(text: str) -> None:
    assert check(text) == ()


def compound(words: str) -> tuple[str, str]:
    return "draft-compound", f"“{words}” checks a second thing: split it into two criteria"


def vague(word: str) -> tuple[str, str]:
    return "draft-vague", f"“{word}” is vague: say what the answer must contain"


@pytest.mark.parametrize(
    ("text", "rule", "message"),
    [
        ("Names the limit and explains the procedure", *compound("and explains")),
        ("Names the limit; gives the address", *compound("limit;")),
        ("Has good quality", *vague("good")),
        ("Responds appropriately", *vague("appropriately")),
        (
            "Says: send it back to us in Kiel within 30 days",
            "draft-restates",
            "repeats the reference answer word for word; a good answer in other words would fail",
        ),
        (
            "Offers refund within 30 days, names the return address",
            "draft-restates",
            "repeats the whole expected outcome: split it into parts that can be checked",
        ),
    ],
)
def test_warning(text: str, rule: str, message: str) -> None:
    assert check(text) == (f"c1: {rule}: {message}",)


def test_duplicates_are_named_once_each() -> None:
    found = check("Names the 30-day limit", "Greets the customer", "The 30-day limit: names it")
    assert found == ("c3: draft-duplicate: checks the same as `c1`: remove one of them",)
