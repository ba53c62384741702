"""Rubrics of AutoRubric as rubric files."""

import pytest

from rubric_ci.parts.bring.dialects import autorubric
from rubric_ci.parts.bring.dialects.rubric_file import ASSESSABLE
from tests.parts.bring.dialects.rubrics import imported

FILE = """\
guidelines: Mark what is written.
rubric:
  sections:
  - name: Facts
    criteria:
    - {name: the limit, requirement: "Names {{ the }} limit", weight: 5}
    - {requirement: Explains the way back}
  - {name: Faults, criteria: [{name: the limit, requirement: Promises a day, weight: -4}]}
  - requirement: How satisfied is the customer?
    scale_type: ordinal
    aggregation: mean
    options: [{label: "no", value: 0}, {label: "yes", value: 1}, {label: n/a, value: 0, na: true}]
"""


def test_sections_weights_and_options() -> None:
    data, problems = imported(autorubric, FILE)
    assert data == {
        "guidelines": "Mark what is written.",
        "criteria": [
            {
                "id": "the-limit",
                "expected_outcome": "{% raw %}Names {{ the }} limit{% endraw %}",
                "applies_if": ASSESSABLE,
                "weight": 5,
                "required": False,
                "tags": ["Facts"],
            },
            {
                "expected_outcome": "Explains the way back",
                "applies_if": ASSESSABLE,
                "weight": 10,
                "required": False,
                "tags": ["Facts"],
            },
            {
                "id": "the-limit-2",
                "expected_outcome": "Promises a day",
                "applies_if": ASSESSABLE,
                "weight": -4,
                "required": False,
                "tags": ["Faults"],
            },
            {
                "expected_outcome": "How satisfied is the customer?",
                "choices": [{"choice": "no", "score": 0}, {"choice": "yes", "score": 1}],
                "applies_if": ASSESSABLE,
                "weight": 10,
                "required": False,
            },
        ],
    }
    assert problems == [
        "rubric.sections.2.aggregation: `aggregation` is of several judges: see `judge.panel`"
    ]


@pytest.mark.parametrize("text", ["- {requirement: a}", "criteria: [{requirement: a}]"])
def test_each_form_of_the_list(text: str) -> None:
    data, problems = imported(autorubric, text)
    assert ([each["expected_outcome"] for each in data["criteria"]], problems) == (["a"], [])


def test_labelled_submissions_and_wrong_criteria_are_named() -> None:
    text = (
        "items: [{submission: a}]\n"
        "criteria: [{requirement: a, wight: 2}, {weight: 1}, b, {requirement: c, options: [d]}]\n"
    )
    data, problems = imported(autorubric, text)
    assert len(data["criteria"]) == 1
    assert [each.partition(": ")[0] for each in problems] == [
        "items",
        "criteria.0.wight",
        "criteria.1",
        "criteria.2",
        "criteria.3.options",
    ]


@pytest.mark.parametrize("data", [[], {}, "a", {"criteria": ["a"]}, {"rubric": 1}, [{"a": 1}]])
def test_other_data(data: object) -> None:
    assert not autorubric.matches(data)
