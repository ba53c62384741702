"""Rubrics of autoevals, AutoRubric and rubric-kit as rubric files."""

from typing import Any

import pytest
import yaml

from rubric_ci.files.validation.validator import check_rubric
from rubric_ci.parts.bring.dialects.rubric_formats import ASSESSABLE, rubric_of
from rubric_ci.parts.bring.import_traces import as_yaml
from rubric_ci.values.references import NotFound

AUTOEVALS = """\
prompt: |-
  Asked: {{input}}. Said: {{{ output }}}. Known: {{expected}}.
  Is it (A) right or (B) wrong?
choice_scores: {A: 1, "B": 0.0}
"""
AUTORUBRIC = """\
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
RUBRIC_KIT = """\
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


def imported(text: str) -> tuple[dict[str, Any], list[str]]:
    """Return the rubric file of a file, and what it lacks; the file itself has no problem."""
    found = rubric_of(yaml.safe_load(text), "grader")
    assert found
    problems, _ = check_rubric("a.rubric.yaml", as_yaml(found.data), lambda _: NotFound("gone"))
    assert [each for each in problems if each.severity.value == "error"] == []
    return found.data, [
        f"{'.'.join(map(str, path))}: {message}" for _, path, message in found.problems
    ]


def test_a_prompt_with_choices() -> None:
    data, problems = imported(AUTOEVALS)
    expected = """
    guidelines: |-
      Asked: (the question). Said: (the answer). Known: (the reference answer).
      Is it (A) right or (B) wrong?
    criteria:
    - id: grader
      expected_outcome: The choice that the guidelines ask for
      choices: [{choice: A, score: 1}, {choice: B, score: 0.0}]
    """
    assert data == yaml.safe_load(expected)
    assert problems == []


def test_without_a_counterpart_of_autoevals_of_autoevals() -> None:
    text = AUTOEVALS.replace("{{input}}", "{{criteria}}") + "use_cot: true\nparser: json\n"
    _, problems = imported(text)
    assert problems == [
        "use_cot: `use_cot` is a setting of the judge in rubric-ci.yaml",
        "parser: `parser` has no counterpart",
        "prompt: `{{criteria}}` of the prompt has no counterpart",
    ]


def test_sections_weights_and_options() -> None:
    data, problems = imported(AUTORUBRIC)
    expected = """
    guidelines: Mark what is written.
    criteria:
    - id: the-limit
      expected_outcome: "{% raw %}Names {{ the }} limit{% endraw %}"
      weight: 5
      tags: [Facts]
    - {expected_outcome: Explains the way back, weight: 10, tags: [Facts]}
    - {id: the-limit-2, expected_outcome: Promises a day, weight: -4, tags: [Faults]}
    - expected_outcome: How satisfied is the customer?
      choices: [{choice: 'no', score: 0}, {choice: 'yes', score: 1}]
      weight: 10
    """
    for criterion in data["criteria"]:
        assert (criterion.pop("applies_if"), criterion.pop("required")) == (ASSESSABLE, False)
    assert data == yaml.safe_load(expected)
    assert problems == [
        "rubric.sections.2.aggregation: `aggregation` is of several judges: see `judge.panel`"
    ]


@pytest.mark.parametrize("text", ["- {requirement: a}", "criteria: [{requirement: a}]"])
def test_each_form_of_the_list(text: str) -> None:
    data, problems = imported(text)
    assert ([each["expected_outcome"] for each in data["criteria"]], problems) == (["a"], [])


def test_labelled_submissions_and_wrong_criteria_are_named() -> None:
    text = (
        "items: [{submission: a}]\n"
        "criteria: [{requirement: a, wight: 2}, {weight: 1}, b, {requirement: c, options: [d]}]\n"
    )
    data, problems = imported(text)
    assert len(data["criteria"]) == 1
    assert [each.partition(": ")[0] for each in problems] == [
        "items",
        "criteria.0.wight",
        "criteria.1",
        "criteria.2",
        "criteria.3.options",
    ]


def test_each_kind_of_criterion() -> None:
    data, problems = imported(RUBRIC_KIT)
    expected = """
    criteria:
    - id: limit
      expected_outcome: Names {{days}} days
      weight: 3
      required: false
      tags: [facts]
    - id: explained
      expected_outcome: How far does it explain?
      levels: {0: nothing, 1: some, 3: all}
      weight: 3
      tags: [depth]
    - id: warm
      expected_outcome: Is it warm?
      choices:
      - {choice: '1', score: 0.5, criteria: cold}
      - {choice: '2', score: 1.0, criteria: warm}
      weight: 2
      tags: [tone]
    - {id: looks, calls_in_order: [find, read], weight: 2, required: false, tags: [facts]}
    - {id: writes, called: write, penalty: 1, tags: [facts]}
    vars: {days: '30'}
    """
    assert data == yaml.safe_load(expected)
    assert problems == [
        "dimensions.1.pass_above: `pass_above` is a word in the results, and no gate"
    ]


NO_CALLS = "have no counterpart; write assertions about calls"


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ("gone", "dimension: there is no dimension `gone`"),
        ("facts, tool_calls: {optional: {a: {}}}", f"tool_calls: these calls {NO_CALLS}"),
        (
            "facts, tool_calls: {required: {a: {min_calls: 2}}}",
            f"tool_calls: these calls with min_calls {NO_CALLS}",
        ),
        (
            "facts, tool_calls: {prohibited: {a: {}, b: {}}}",
            "tool_calls: several calls in any order, or forbidden, need an assertion each",
        ),
    ],
)
def test_without_a_counterpart_of_rubric_kit(more: str, problem: str) -> None:
    data, problems = imported(f"{RUBRIC_KIT}  bad: {{weight: 1, dimension: {more}}}\n")
    assert len(data["criteria"]) == 5
    assert f"criteria.bad.{problem}" in problems


def test_an_entry_that_is_a_text_is_named() -> None:
    text = "dimensions: [{facts: Right}]\ncriteria: [{a: {dimension: facts}}, b]\n"
    data, problems = imported(text)
    assert len(data["criteria"]) == 1
    assert problems == ["criteria.1.dimension: there is no dimension `None`"]


@pytest.mark.parametrize(
    "data",
    [
        *([], {}, "a", [{"a": 1}], {"prompt": "a"}, {"choice_scores": {}}, {"criteria": []}),
        *({"criteria": ["a"]}, {"rubric": 1}),
        {"dimensions": {}, "criteria": {"a": {"weight": 1}}},
    ],
)
def test_other_data(data: object) -> None:
    assert rubric_of(data, "grader") is None
