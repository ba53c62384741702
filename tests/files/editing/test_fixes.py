"""Fixes of eval files: what changes, what stays, and that the rest is untouched."""

from textwrap import dedent
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.files.editing.fixes import FixResult, fix
from rubric_ci.files.yaml_text.document import Document
from tests.evals.__main__ import evals

CASE = "evalcases:\n- id: a\n  input: q\n  rubrics:\n"

OUTCOME = "evalcases:\n- expected_outcome: "
FIXED = {
    "a bare id": ("evalcases:\n- id: 007 # why\n", 'evalcases:\n- id: "007" # why\n'),
    "booleans": ("evalcases:\n- {id: on, input: no}\n", 'evalcases:\n- {id: "on", input: "no"}\n'),
    "a date": ("evalcases:\n- outcome: 2024-01-01\n", f'{OUTCOME}"2024-01-01"\n'),
    "lists under a short name": (
        "evalcases:\n- input: [{role: user, content: q}]\n  expected_output: [{role: user}]\n",
        (
            "evalcases:\n- input_messages: [{role: user, content: q}]\n"
            "  expected_messages: [{role: user}]\n"
        ),
    ),
    "older spellings": (
        f"{CASE}  - description: x\n  - levels: {{1: {{description: y}}, 2: z}}\n",
        f"{CASE}  - expected_outcome: x\n  - levels: {{1: {{criteria: y}}, 2: z}}\n",
    ),
    "criteria of rubrics that see the work": (
        "evalcases:\n- rubrics: {sees: [files], criteria: [{description: x}]}\n",
        "evalcases:\n- rubrics: {sees: [files], criteria: [{expected_outcome: x}]}\n",
    ),
    "limits in camel case": (
        "execution: {evaluators: [{name: t, maxTotal: 9, maxInput: 8, maxOutput: 7}]}\n",
        "execution: {evaluators: [{name: t, max_total: 9, max_input: 8, max_output: 7}]}\n",
    ),
    "criteria of levels and ranges": (
        (
            f"{CASE}  - levels: {{1: {{expected_outcome: y}}}}\n"
            "  - score_ranges: [{description: x}]\n"
        ),
        f"{CASE}  - levels: {{1: {{criteria: y}}}}\n  - score_ranges: [{{expected_outcome: x}}]\n",
    ),
    "a name inside of a renamed list": (
        "evalcases:\n- input: [{role: user, rubrics: [{description: x}]}]\n",
        "evalcases:\n- input_messages: [{role: user, rubrics: [{expected_outcome: x}]}]\n",
    ),
    "items and ids": (
        f"{CASE}  - @a\n  - A\n   - B\n- id: 5\n",
        f'{CASE}  - "@a"\n  - A\n  - B\n- id: "5"\n',
    ),
    "an item in a text": (f"{CASE}  - A\n    - B\n- id: 5\n", f'{CASE}  - A\n    - B\n- id: "5"\n'),
    "a comment in a text": (
        f"{CASE}  - Names the issue #12\n- id: 5\n",
        f'{CASE}  - Names the issue #12\n- id: "5"\n',
    ),
    "a number for a range": (
        f"{CASE}  - score_ranges: [{{score_range: [0, 4]}}, {{score_range: 5}}]\n",
        f"{CASE}  - score_ranges: [{{score_range: [0, 4]}}, {{score_range: [5, 10]}}]\n",
    ),
    "an upper bound": (
        f"{CASE}  - score_ranges: [{{score_range: [0, 4]}}, {{score_range: [5]}}]\n",
        f"{CASE}  - score_ranges: [{{score_range: [0, 4]}}, {{score_range: [5, 10]}}]\n",
    ),
    "a lower bound": (
        f"{CASE}  - score_ranges: [{{score_range: [4]}}, {{score_range: [5, 10]}}]\n",
        f"{CASE}  - score_ranges: [{{score_range: [0, 4]}}, {{score_range: [5, 10]}}]\n",
    ),
    "line ends, a mark": ("\ufeffevalcases:\r\n- id: 5\r\n", '\ufeffevalcases:\r\n- id: "5"\r\n'),
    "what aliases share, once": (
        "x-r: &r [{description: a}, no]\nevalcases:\n- rubrics: *r\n- rubrics: *r\n",
        'x-r: &r [{expected_outcome: a}, "no"]\nevalcases:\n- rubrics: *r\n- rubrics: *r\n',
    ),
}


PLACES = {
    "booleans": 2,
    "a date": 2,
    "lists under a short name": 2,
    "older spellings": 2,
    "what aliases share, once": 2,
    "limits in camel case": 3,
    "criteria of levels and ranges": 2,
    "a name inside of a renamed list": 2,
    "items and ids": 3,
}


@pytest.mark.parametrize("name", FIXED)
def test_fixed(name: str) -> None:
    before, after = FIXED[name]
    fixed = fix(before)
    assert fixed.text == after
    assert fixed.places == PLACES.get(name, 1)
    assert fix(after) == FixResult(after, 0)


KEPT = {
    "a string as input": "evalcases:\n- {id: a, input: q, expected_output: x}\n",
    "both spellings": "evalcases:\n- {outcome: a, expected_outcome: b}\n",
    "metadata": "evalcases:\n- metadata: {description: 1, id: 5, on: no}\n",
    "structured contents": "evalcases:\n- expected_output: {outcome: 2024-01-01}\n",
    "two open bounds": f"{CASE}  - score_ranges: [{{score_range: [0]}}, {{score_range: [5]}}]\n",
    "a gap of two": (f"{CASE}  - score_ranges: [{{score_range: [0]}}, {{score_range: [4, 5]}}]\n"),
    "no number left": (
        f"{CASE}  - score_ranges: [{{score_range: [0, 10]}}, {{score_range: [5]}}]\n"
    ),
    "no number": (f"{CASE}  - score_ranges: [{{score_range: [0, 4]}}, {{score_range: [5, x]}}]\n"),
    "a name in quotes": 'evalcases:\n- "outcome": b\n',
    "a name that a merge key gives as well": "evalcases:\n- <<: {outcome: a}\n  outcome: b\n",
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


def test_the_example_of_the_documentation() -> None:
    before = """\
        evalcases:
          - id: 42          # the answer
            outcome: Knows the answer
            input: "What is it?"
    """
    after = before.replace("42 ", '"42" ').replace("outcome:", "expected_outcome:")
    assert fix(dedent(before)).text == dedent(after)
