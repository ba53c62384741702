"""Commit messages for rubrics; GitHub must not act on any text in them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.services.drafting.publish import (
    commit_message,
    is_generated,
    pull_request_body,
    subject,
)

ACTIVE = re.compile(r"\[|\]|#\d|@\w|\bGH-\d|\*\*\*|skip-checks", re.IGNORECASE)


def test_message() -> None:
    assert commit_message({"evals/a.yaml": ["refund", "hours"], "evals/b.yaml": ["größe"]}) == (
        """\
evals: add rubrics to 3 cases

Drafted from the expected outcomes: review them like any other change.

- evals/a.yaml: refund, hours
- evals/b.yaml: größe

Rubric-CI: generate rubrics
"""
    )


def test_many_cases_are_counted() -> None:
    added = {"a.yaml": [f"c{n}" for n in range(15)]}
    assert subject(added) == "evals: add rubrics to 15 cases"
    assert "c11 and 3 more\n" in commit_message(added)
    assert subject({"a.yaml": ["one"]}) == "evals: add rubrics to 1 case"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("[skip ci]", "_skip ci_"),
        ("***NO_CI***", "___NO_CI___"),
        ("fixes #12", "fixes _12"),
        ("closes GH-12", "closes _12"),
        ("@octocat", "_octocat"),
        ("a\n\nskip-checks: true", "a _: true"),
    ],
)
def test_github_does_not_act_on_ids(name: str, shown: str) -> None:
    assert f"- evals/a.yaml: {shown}\n" in commit_message({"evals/a.yaml": [name]})


@given(st.dictionaries(st.text(), st.lists(st.text(), min_size=1), min_size=1))
def test_no_message_skips_checks(added: dict[str, list[str]]) -> None:
    text = commit_message(added)
    assert not ACTIVE.search(text)
    assert is_generated(text)
    assert text.splitlines()[-1] == "Rubric-CI: generate rubrics"


def test_the_body_of_a_pull_request_shows_ids_as_code() -> None:
    body = pull_request_body({"evals/a.yaml": ["refund", "`x` #1"]})
    assert "- `evals/a.yaml`: `refund`, `` `x` #1 ``\n" in body


@pytest.mark.parametrize("text", ["evals: add rubrics", "x\n\nRubric-CI: something else"])
def test_commits_of_others_are_not_generated(text: str) -> None:
    assert not is_generated(text)
