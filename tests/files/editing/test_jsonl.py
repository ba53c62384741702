"""JSON Lines: one pair more before the closing brace, in the manner of the line."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.files.editing.fixes import FixResult
from rubric_ci.files.editing.jsonl import fix_lines, insert_rubrics_into_lines
from rubric_ci.files.yaml_text.jsonlines import JsonLines
from tests.evals.__main__ import evals

RUBRICS = [{"id": "größe", "weight": 2.0}]
ADDED = '"rubrics": [{"id": "größe", "weight": 2.0}]'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            '{"id": "a", "note": "}"}\n', f'{{"id": "a", "note": "}}", {ADDED}}}\n', id="spaced"
        ),
        pytest.param('{"id":"a"}', f'{{"id":"a",{ADDED.replace(" ", "")}}}', id="compact"),
        pytest.param(
            ' { "id": "a" } \r\n\r\n', f' {{ "id": "a", {ADDED} }} \r\n\r\n', id="padded-crlf"
        ),
        pytest.param(
            '{"id": "\\u00e9"}',
            '{"id": "\\u00e9", "rubrics": [{"id": "gr\\u00f6\\u00dfe", "weight": 2.0}]}',
            id="ascii",
        ),
        pytest.param(
            '\ufeff\n{"id": "a"}\n', f'\ufeff\n{{"id": "a", {ADDED}}}\n', id="byte-order-mark"
        ),
    ],
)
def test_insert(before: str, after: str) -> None:
    assert insert_rubrics_into_lines(before, {0: RUBRICS}).text == after


def test_a_case_with_rubrics_stays() -> None:
    text = '{"id": "a", "rubrics": null}\n'
    edited = insert_rubrics_into_lines(text, {0: RUBRICS})
    assert edited.text == text
    assert edited.refused[0].reason == "the case has a `rubrics` key already"
    assert edited.refused[0].block == '"rubrics": [{"id": "größe", "weight": 2.0}]\n'


def test_a_line_that_cannot_be_proven_stays() -> None:
    text = '{"id": "a", "metadata": {"score": NaN}}'
    edited = insert_rubrics_into_lines(text, {0: RUBRICS})
    assert edited.text == text
    assert edited.refused[0].reason == (
        "with the rubrics inserted, other data of the line would change"
    )


FIXED = {
    "a bare id, white space and an escape": (
        '{ "id" :5,"input": "a\\u0021\\/" }',
        '{ "id" :"5","input": "a\\u0021\\/" }',
    ),
    "numbers and words as they are written": (
        '{"id": 1.50, "outcome": true}',
        '{"id": "1.50", "expected_outcome": "true"}',
    ),
    "lists under a short name": (
        '{"input": [{"role": "user", "content": 7}], "expected_output": [{"role": "user"}]}',
        (
            '{"input_messages": [{"role": "user", "content": "7"}],'
            ' "expected_messages": [{"role": "user"}]}'
        ),
    ),
    "criteria": (
        '{"rubrics": [{"description": "x"}, {"levels": {"1": {"description": "y"}, "2": "z"}}]}',
        '{"rubrics": [{"expected_outcome": "x"}, {"levels": {"1": {"criteria": "y"}, "2": "z"}}]}',
    ),
    "limits in camel case": (
        '{"evaluators": [{"name": "t", "type": "token_usage", "maxTotal": 9}]}',
        '{"evaluators": [{"name": "t", "type": "token_usage", "max_total": 9}]}',
    ),
    "an upper bound": (
        '{"rubrics": [{"score_ranges": [{"score_range": [0, 4]}, {"score_range": [5]}]}]}',
        '{"rubrics": [{"score_ranges": [{"score_range": [0, 4]}, {"score_range": [5, 10]}]}]}',
    ),
    "only the lines that need it, and their ends": (
        '\ufeff{"id": "a"}\r\n\r\n{"id": 2}\r\n{"id": 3}',
        '\ufeff{"id": "a"}\r\n\r\n{"id": "2"}\r\n{"id": "3"}',
    ),
    "next to a line that is not JSON": ('{"id": 2}\n{"id": 3', '{"id": "2"}\n{"id": 3'),
}


@pytest.mark.parametrize(("before", "after"), FIXED.values(), ids=FIXED)
def test_fixed(before: str, after: str) -> None:
    fixed = fix_lines(before)
    assert fixed.text == after
    assert fixed.places >= 1
    assert fix_lines(after) == FixResult(after, 0)


KEPT = {
    "texts as input": '{"id": "a", "input": "q", "expected_output": "x"}',
    "both spellings": '{"outcome": "a", "expected_outcome": "b"}',
    "what is carried": '{"metadata": {"description": 1}, "expected_output": {"outcome": 1}}',
    "a key given twice": '{"id": 5, "id": 6}',
    "two open bounds": (
        '{"rubrics": [{"score_ranges": [{"score_range": [0]}, {"score_range": [5]}]}]}'
    ),
    "unpaired surrogate": '{"id": 5, "note": "\\ud800"}',
    "a list": "[5]",
    "more lines than are read": '{"id": 5}\n' + "\n" * 200_000,
    "too deep": '{"id": 5, "metadata": ' + "[" * 101 + "]" * 101 + "}",
    "nothing": "",
}


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_kept(text: str) -> None:
    assert fix_lines(text) == FixResult(text, 0)


FILES = [path for path in evals("valid") + evals("invalid") if path.suffix == ".jsonl"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_file_gains_a_fault(path: Path) -> None:
    text = path.read_bytes().decode("utf-8", "replace")
    fixed = fix_lines(text)
    assert (fixed.text == text) == (fixed.places == 0)
    assert len(JsonLines("", fixed.text).text_problems) == len(JsonLines("", text).text_problems)


WORDS = st.sampled_from(
    (
        *("id", "input", "outcome", "expected_output", "rubrics", "description", "levels"),
        *("score_ranges", "score_range", "evaluators", "maxTotal", "metadata", "content", "role"),
    )
)
CASES = st.dictionaries(
    WORDS,
    st.recursive(
        st.none() | st.booleans() | st.integers(0, 10) | st.floats() | WORDS | st.text(max_size=3),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
        max_leaves=12,
    ),
    max_size=6,
)


@given(st.lists(CASES | st.just("no JSON"), max_size=4), st.booleans())
def test_a_second_run_changes_nothing(cases: list[object], tight: bool) -> None:
    separators = (",", ":") if tight else (" , ", ": ")
    text = "\r\n".join(json.dumps(case, separators=separators) for case in cases)
    once = fix_lines(text)
    assert fix_lines(once.text) == FixResult(once.text, 0)
