"""Graders of autoevals as rubric files."""

import pytest

from rubric_ci.parts.bring.dialects import autoevals
from tests.parts.bring.dialects.rubrics import imported

FILE = """\
prompt: |-
  Asked: {{input}}. Said: {{{ output }}}. Known: {{expected}}.
  Is it (A) right or (B) wrong?
choice_scores: {A: 1, "B": 0.0}
"""


def test_a_prompt_with_choices() -> None:
    data, problems = imported(autoevals, FILE)
    assert data == {
        "guidelines": "Asked: (the question). Said: (the answer). Known: (the reference answer).\n"
        "Is it (A) right or (B) wrong?",
        "criteria": [
            {
                "id": "grader",
                "expected_outcome": "The choice that the guidelines ask for",
                "choices": [{"choice": "A", "score": 1}, {"choice": "B", "score": 0.0}],
            }
        ],
    }
    assert problems == []


def test_what_has_no_counterpart() -> None:
    text = FILE.replace("{{input}}", "{{criteria}}") + "use_cot: true\nparser: json\n"
    _, problems = imported(autoevals, text)
    assert problems == [
        "use_cot: `use_cot` is a setting of the judge in rubric-ci.yaml",
        "parser: `parser` has no counterpart",
        "prompt: `{{criteria}}` of the prompt has no counterpart",
    ]


@pytest.mark.parametrize("data", [[], {"prompt": "a"}, {"choice_scores": {}}])
def test_other_data(data: object) -> None:
    assert not autoevals.matches(data)
