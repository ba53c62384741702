"""Warnings about drafts: a table of criteria and their warnings."""

import pytest

from rubric_ci.services.drafting.draft_check import lint
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.evals import EvalCase
from rubric_ci.values.messages import Message, TextPart
from rubric_ci.values.rubric import Check, Rubric

SPAN = Span(1, 1, 1, 2)
CASE = EvalCase(
    id="refund",
    file="evals/a.yaml",
    span=SPAN,
    expected_outcome="Offers a refund within 30 days and names the return address",
    expected_messages=(
        Message(
            role="assistant",
            parts=(TextPart("You can send it back to us in Kiel within 30 days for a refund."),),
        ),
    ),
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


@pytest.mark.parametrize(
    ("text", "rule", "message"),
    [
        (
            "Names the limit and explains the procedure",
            "draft-compound",
            "“and explains” checks a second thing: split it into two criteria",
        ),
        (
            "Names the limit; gives the address",
            "draft-compound",
            "“limit;” checks a second thing: split it into two criteria",
        ),
        ("Has good quality", "draft-vague", "“good” is vague: say what the answer must contain"),
        (
            "Responds appropriately",
            "draft-vague",
            "“appropriately” is vague: say what the answer must contain",
        ),
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
