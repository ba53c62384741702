"""Wording of criteria: what is found in which words, and what is not."""

import pytest
import yaml

from rubric_ci.files.validation.ambiguity_rules import (
    KINDS,
    WORDING,
    Kind,
    repeated,
    wording,
    wording_problems,
    words_of,
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Names the limit and explains who pays", ["compound: “and explains”"]),
        ("Flags the error but also suggests a fix", ["compound: “but also suggests”"]),
        ("Names the limit; gives the address", ["compound: “limit;”"]),
        ("Offers a refund and/or a voucher", ["compound: “and/or”"]),
        ("Names at least two of the three reasons", ["count: “at least two of the”"]),
        ("Lists 2 out of 3 causes", ["count: “2 out of 3”"]),
        ("Responds appropriately.", ["vague: “appropriately”"]),
        ("Is a good, helpful answer", ["vague: “good”"]),
        ("Is well written", ["vague: “well written”"]),
        ("Does not fail to mention the fee", ["double-negation: “not fail to”"]),
        ("Never omits the warning", ["double-negation: “Never omits”"]),
        ("Gives the steps as in the ticket", ["not-seen: “the ticket”"]),
        ("Same as above, for shoes", ["not-seen: “Same as above”"]),
        ("How well it explains the risk", ["degree: “How well”"]),
        ("To what extent is the tone warm?", ["degree: “To what extent”"]),
    ],
)
def test_findings(text: str, found: list[str]) -> None:
    assert [f"{each.kind}: {each.message.split('” ')[0]}”" for each in wording(text)] == found


@pytest.mark.parametrize(
    "text",
    [
        "Names the 30-day limit",
        "Lists salt and pepper as ingredients",
        "Is referenced but does not exist",
        "Has a function that takes a text and returns a boolean",
        "Uses the page count and names of authors",
        "Escapes&nbsp; padding",
        "Names one of the founders",
        "Uses an appropriate greeting (such as Hello)",
        "Says proper names: Anna, Ben",
        "Does not mention the fee",
        "Never says no",
        "Asks for the order number before anything else",
        "Says how long the warranty lasts",
        "Nennt die Frist und erklärt das Vorgehen",
        "",
    ],
)
def test_no_finding(text: str) -> None:
    assert list(wording(text)) == []


def test_a_degree_is_what_scores_and_levels_are_for() -> None:
    assert list(wording("How well it explains the risk", checklist=False)) == []


@pytest.mark.parametrize(
    ("texts", "first"),
    [
        (["Names the limit of 30 days", "Is polite", "Names the 30 days limit", ""], [(2, 0)]),
        (["mentions design-review step", "mentions design step"], []),
        (["Names the limit"] * 100, [(1, 0)]),
        (["Names the limit"] * 101, []),
        (["Greets", "Greets"], []),
    ],
)
def test_criteria_that_check_the_same(texts: list[str], first: list[tuple[int, int]]) -> None:
    assert list(repeated(list(map(words_of, texts))))[:1] == first


def test_places() -> None:
    criteria = [
        "Is good",
        {"expected_outcome": "Is helpful"},
        {"description": "How well it reads", "score_ranges": {}},
        {"levels": {}},
        7,
        {"expected_outcome": ["x"]},
        {"expected_outcome": "is helpful"},
        "States the price of shipping",
        {"expected_outcome": "States the shipping price."},
    ]
    found = list(wording_problems(criteria, ("rubrics",)))
    assert [(each.path, each.first) for each in found] == [
        (("rubrics", 0), ()),
        (("rubrics", 1, "expected_outcome"), ()),
        (("rubrics", 6, "expected_outcome"), ()),
        (("rubrics", 8, "expected_outcome"), ("rubrics", 7)),
    ]
    assert found[-1].message == (
        "“States the shipping price.” checks the same as an earlier criterion: remove one"
    )


def test_the_bad_example_has_each_kind_and_a_duplicate() -> None:
    criteria = yaml.safe_load(WORDING.bad)["evalcases"][0]["rubrics"]
    found = list(wording_problems(criteria, ("rubrics",)))
    assert [each.path[1] for each in found] == [0, 1, 2, 3, 4, 5, 7]
    kinds = [each.kind for text in criteria for each in wording(text)]
    assert kinds == [kind.name for kind in KINDS]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_words_of_a_kind_are_in_lower_case(kind: Kind) -> None:
    words = kind.words
    assert {word.casefold() for word in words} == words
