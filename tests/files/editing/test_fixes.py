"""Fixes of eval files: what changes, what stays, and that the rest is untouched."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.files.editing.fixes import FixResult, fix
from rubric_ci.files.yaml_text.document import Document
from tests.evals.__main__ import evals

CASE = "evalcases:\n- id: a\n  input: q\n  rubrics:\n"

FIXED = {
    "a bare id": ("evalcases:\n- id: 007 # why\n", 'evalcases:\n- id: "007" # why\n'),
    "booleans": ("evalcases:\n- {id: on, input: no}\n", 'evalcases:\n- {id: "on", input: "no"}\n'),
    "a date": ("evalcases:\n- outcome: 2024-01-01\n", 'evalcases:\n- outcome: "2024-01-01"\n'),
    "an item in a text": (f"{CASE}  - A\n    - B\n- id: 5\n", f'{CASE}  - A\n    - B\n- id: "5"\n'),
    "a comment in a text": (
        f"{CASE}  - Names the issue #12\n- id: 5\n",
        f'{CASE}  - Names the issue #12\n- id: "5"\n',
    ),
    "line ends, a mark": ("\ufeffevalcases:\r\n- id: 5\r\n", '\ufeffevalcases:\r\n- id: "5"\r\n'),
    "what aliases share, once": (
        "x-r: &r [a, no]\nevalcases:\n- rubrics: *r\n- rubrics: *r\n",
        'x-r: &r [a, "no"]\nevalcases:\n- rubrics: *r\n- rubrics: *r\n',
    ),
}


@pytest.mark.parametrize("name", FIXED)
def test_fixed(name: str) -> None:
    before, after = FIXED[name]
    fixed = fix(before)
    assert fixed.text == after
    assert fixed.places == 1 + (name == "booleans")
    assert fix(after) == FixResult(after, 0)


KEPT = {
    "old spellings": "evalcases:\n- {id: a, outcome: b, rubrics: [{description: x}]}\n",
    "metadata": "evalcases:\n- metadata: {description: 1, id: 5, on: no}\n",
    "structured contents": "evalcases:\n- expected_output: {outcome: 2024-01-01}\n",
    "a tagged scalar": 'evalcases:\n- id: !!int "5"\n',
    "an anchored scalar": "evalcases:\n- id: &x 5\n  note: *x\n",
    "no YAML": "evalcases: [\n",
    "nothing": "",
}


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_kept(text: str) -> None:
    assert fix(text) == FixResult(text, 0)


@pytest.mark.parametrize(
    ("text", "rule", "kept"),
    [
        ("evalcases:\n- id: 5\n", "not-text", True),
        ("evalcases:\n- id: 5\n", "ambiguous-text", False),
        ("evalcases:\n- expected_outcome: 2024-01-01\n", "ambiguous-text", True),
        ("evalcases:\n- expected_outcome: 2024-01-01\n", "not-text", False),
    ],
)
def test_kept_where_the_rule_is_off(text: str, rule: str, kept: bool) -> None:
    assert (fix(text, switched_off={rule}) == FixResult(text, 0)) is kept


@pytest.mark.parametrize("path", evals("valid") + evals("invalid"), ids=lambda path: path.name)
def test_no_file_gains_a_problem(path: Any) -> None:
    text = path.read_bytes().decode("utf-8", "replace")
    fixed = fix(text)
    assert (fixed.text == text) == (fixed.places == 0)
    assert len(Document("", fixed.text).text_problems) <= len(Document("", text).text_problems)


LINES = st.sampled_from(
    [
        "evalcases:",
        "- id: 5",
        "  outcome: no",
        "  input: [{role: user, content: 1:30}]",
        "  rubrics: &r",
        "  - description: 2024-01-01",
        "  - *r",
        "  - {score_ranges: [{score_range: [3]}, {score_range: [0, 2]}]}",
        "  <<: {outcome: x}",
        "  <<: {outcome: 2024-01-01}",
        "# outcome: 5",
        "  metadata: {outcome: 5}",
    ]
)


@given(st.lists(LINES, max_size=12).map("\n".join))
def test_a_second_run_changes_nothing(text: str) -> None:
    once = fix(text)
    assert fix(once.text) == FixResult(once.text, 0)
