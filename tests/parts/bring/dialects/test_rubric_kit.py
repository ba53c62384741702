"""Rubrics of rubric-kit as rubric files."""

import pytest

from rubric_ci.parts.bring.dialects import rubric_kit
from tests.parts.bring.dialects.rubrics import imported

FILE = """\
variables: {days: 30}
dimensions:
- facts: Is it right?
  grading_type: binary
- depth: How far does it explain?
  grading_type: score
  scores: {0: nothing, 1: some, 3: all}
  pass_above: 1
- {name: tone, description: "Is it warm?", grading_type: score, scores: {1: cold, 2: warm}}
criteria:
  limit: {category: Output, weight: 3, dimension: facts, criterion: "Names {{days}} days"}
  explained: {weight: from_scores, dimension: depth, criterion: from_scores}
  warm: {weight: from_scores, dimension: tone, criterion: "Is it warm?"}
  looks: {weight: 2, dimension: facts, tool_calls: {required: [find: {}, read: {}]}}
  writes: {weight: 1, dimension: facts, tool_calls: {prohibited: {write: {}}}}
"""


def test_each_kind_of_criterion() -> None:
    data, problems = imported(rubric_kit, FILE)
    assert data == {
        "criteria": [
            {
                "id": "limit",
                "expected_outcome": "Names {{days}} days",
                "weight": 3,
                "required": False,
                "tags": ["facts"],
            },
            {
                "id": "explained",
                "expected_outcome": "How far does it explain?",
                "levels": {0: "nothing", 1: "some", 3: "all"},
                "weight": 3,
                "tags": ["depth"],
            },
            {
                "id": "warm",
                "expected_outcome": "Is it warm?",
                "choices": [
                    {"choice": "1", "score": 0.5, "criteria": "cold"},
                    {"choice": "2", "score": 1.0, "criteria": "warm"},
                ],
                "weight": 2,
                "tags": ["tone"],
            },
            {
                "id": "looks",
                "calls_in_order": ["find", "read"],
                "weight": 2,
                "required": False,
                "tags": ["facts"],
            },
            {"id": "writes", "called": "write", "penalty": 1, "tags": ["facts"]},
        ],
        "vars": {"days": "30"},
    }
    assert problems == [
        "dimensions.1.pass_above: `pass_above` is a word in the results, and no gate"
    ]


@pytest.mark.parametrize(
    ("criterion", "problem"),
    [
        ("{weight: 1, dimension: gone}", "criteria.bad.dimension: there is no dimension `gone`"),
        (
            "{weight: 1, dimension: facts, tool_calls: {optional: {a: {}}}}",
            (
                "criteria.bad.tool_calls: these calls have no counterpart; write assertions about "
                "calls"
            ),
        ),
        (
            "{weight: 1, dimension: facts, tool_calls: {required: {a: {min_calls: 2}}}}",
            (
                "criteria.bad.tool_calls: these calls with min_calls have no counterpart; write "
                "assertions about calls"
            ),
        ),
        (
            "{weight: 1, dimension: facts, tool_calls: {prohibited: {a: {}, b: {}}}}",
            (
                "criteria.bad.tool_calls: several calls in any order, or forbidden, need an "
                "assertion each"
            ),
        ),
    ],
)
def test_without_a_counterpart(criterion: str, problem: str) -> None:
    data, problems = imported(rubric_kit, f"{FILE}  bad: {criterion}\n")
    assert len(data["criteria"]) == 5
    assert problem in problems


def test_an_entry_that_is_a_text_is_named() -> None:
    text = "dimensions: [{facts: Right}]\ncriteria: [{a: {dimension: facts}}, b]\n"
    data, problems = imported(rubric_kit, text)
    assert len(data["criteria"]) == 1
    assert problems == ["criteria.1.dimension: there is no dimension `None`"]


@pytest.mark.parametrize(
    "data", [[], {"criteria": []}, {"dimensions": {}, "criteria": {"a": {"weight": 1}}}]
)
def test_other_data(data: object) -> None:
    assert not rubric_kit.matches(data)
