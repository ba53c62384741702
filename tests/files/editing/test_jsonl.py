"""JSON Lines: one pair more before the closing brace, in the manner of the line."""

import pytest

from rubric_ci.files.editing.jsonl import insert_rubrics_into_lines

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
