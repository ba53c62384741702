"""What an expected outcome says exactly is an assertion, and nothing else is."""

from typing import Any

import pytest

from rubric_ci.services.drafting.drafter import checks_of, with_checks
from rubric_ci.services.drafting.drafting_reply import Draft, read_draft
from tests.generating import GOOD, ITEMS


@pytest.mark.parametrize(
    ("outcome", "checks"),
    [
        ("Must contain `30 days`.", [{"contains": "30 days"}]),
        ('The answer includes the phrase "not sure".', [{"contains": "not sure"}]),
        ("It must not contain “sorry”", [{"contains": "sorry", "not": True}]),
        ("Never contains `TODO`", [{"contains": "TODO", "not": True}]),
        ("The output is valid JSON; at most 40 words", [{"is_json": True}, {"max_words": 40}]),
        ("Uses no more than 5 words!\nHas at least 2 words", [{"max_words": 5}, {"min_words": 2}]),
        ("Greets. Must contain `a`. Is kind.", [{"contains": "a"}]),
        ("Must contain `a` and explain it", []),
        ("Explains what valid JSON is", []),
        ("Contains an example of at most 40 words", []),
        ("Contains the limit", []),
        ("", []),
    ],
)
def test_sentences(outcome: str, checks: list[dict[str, Any]]) -> None:
    found = [
        {k: v for k, v in each.items() if k != "expected_outcome"} for each in checks_of(outcome)
    ]
    assert found == checks


def test_a_draft_begins_with_them() -> None:
    draft = read_draft(GOOD, "checklist")
    assert isinstance(draft, Draft)
    first, *rest = with_checks(draft, "Must contain `30`. Is kind.").rubrics
    assert first == {"id": "exact-1", "expected_outcome": "Must contain `30`", "contains": "30"}
    assert rest == ITEMS


def test_an_id_that_is_taken_leaves_the_draft() -> None:
    draft = read_draft(GOOD.replace("limit", "exact-1", 1), "checklist")
    assert isinstance(draft, Draft)
    assert with_checks(draft, "Must contain `30`") is draft
