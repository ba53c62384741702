"""The variants that no criterion must mind, with their exact text."""

import json

import pytest

from rubric_ci.parts.lab.harmless_variants import harmless, minds

ANSWER = """\
However, returns are free. Jackets must be clean. Shoes need a box.

- receipt
- box
- label
"""


def variants(answer: str) -> dict[str, str]:
    return {each.family: each.text for each in harmless(answer, "seed")}


def test_families() -> None:
    assert variants(ANSWER) == {
        "white-space": ANSWER.replace(". ", ".  ").replace("\n\n", "\n\n\n") + "\n",
        "markdown": ANSWER.replace("However, returns are free.", "**However, returns are free.**"),
        "letter-case": ANSWER.replace("However", "however")
        .replace("Jackets", "jackets")
        .replace("Shoes", "shoes"),
        "greeting": f"Good afternoon,\n\n{ANSWER}",
        "list-order": ANSWER.replace("- receipt\n- box\n- label", "- box\n- label\n- receipt"),
    }


def test_bold_text_loses_its_markdown() -> None:
    assert variants("It is **free** and __fast__.")["markdown"] == "It is free and fast."


def test_code_is_left_alone() -> None:
    assert set(variants("Use `x`:\n```py\nif x:\n    y\n```\nDone.")) == {"greeting"}


def test_json_keeps_its_values() -> None:
    answer = '{"total": 3, "items": ["a", "b"]}'
    found = variants(answer)
    assert set(found) == {"white-space", "key-order"}
    assert all(json.loads(text) == json.loads(answer) for text in found.values())


def test_an_empty_answer_has_no_form() -> None:
    assert set(variants("")) <= {"greeting", "white-space"}


def test_the_choice_depends_on_the_seed_alone() -> None:
    assert harmless(ANSWER, "a") == harmless(ANSWER, "a")
    assert {harmless(ANSWER, str(n)) for n in range(20)} > {harmless(ANSWER, "a")}


@pytest.mark.parametrize(
    ("family", "criterion", "rightly"),
    [
        ("greeting", "Greets the customer", True),
        ("greeting", "Names the limit of 30 days", False),
        ("list-order", "Lists the steps in order", True),
        ("key-order", "Sorted by date", True),
        ("markdown", "Uses Markdown headings", True),
        ("markdown", "Names the price", False),
    ],
)
def test_a_criterion_about_a_form_may_mind_it(family: str, criterion: str, rightly: bool) -> None:
    assert minds(family, criterion) is rightly
