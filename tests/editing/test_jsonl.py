"""JSON Lines: one pair more before the closing brace, in the manner of the line."""

import pytest

from rubric_ci.editing.jsonl import insert_rubrics_into_lines

RUBRICS = [{"id": "größe", "weight": 2.0}]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            '{"id": "a", "note": "}"}\n',
            '{"id": "a", "note": "}", "rubrics": [{"id": "größe", "weight": 2.0}]}\n',
            id="spaced",
        ),
        pytest.param(
            '{"id":"a"}', '{"id":"a","rubrics":[{"id":"größe","weight":2.0}]}', id="compact"
        ),
        pytest.param(
            ' { "id": "a" } \r\n\r\n',
            ' { "id": "a", "rubrics": [{"id": "größe", "weight": 2.0}] } \r\n\r\n',
            id="padded-crlf",
        ),
        pytest.param(
            '{"id": "\\u00e9"}',
            '{"id": "\\u00e9", "rubrics": [{"id": "gr\\u00f6\\u00dfe", "weight": 2.0}]}',
            id="ascii",
        ),
        pytest.param(
            '\ufeff\n{"id": "a"}\n',
            '\ufeff\n{"id": "a", "rubrics": [{"id": "größe", "weight": 2.0}]}\n',
            id="byte-order-mark",
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
