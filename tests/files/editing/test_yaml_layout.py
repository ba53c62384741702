"""Positions of nodes: each is the text between its start and its end."""

import pytest

from rubric_ci.files.editing.yaml_layout import MappingNode, last_line_break, layout, line_start


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: {b: c} # d\n", "{b: c}"),
        ("a: {} \n", "{}"),
        ("a: [b, c] \n", "[b, c]"),
        ("a:\n  b: c # d\n\n", "b: c"),
        ("a:\n- b # c\n\nd: e\n", "- b"),
        ("a: |\n\n\nb: c\n", "|"),
        ("a: |\n  b\n\n\nc: d\n", "|\n  b"),
        ("a: |+\n  b\n\n\nc: d\n", "|+\n  b\n\n"),
        ("? |-\n  a\n: b\n", "b"),
    ],
)
def test_the_value_of_a_key(text: str, value: str) -> None:
    root = layout(text)
    assert isinstance(root, MappingNode)
    found = root.get("a")
    assert found is not None
    assert text[found.start : found.end] == value


@pytest.mark.parametrize(
    ("text", "index", "start"),
    [("ab", 1, 0), ("\nab", 2, 1), ("\rab", 2, 1), ("a\nb\rcd", 5, 4), ("a\rb\ncd", 5, 4)],
)
def test_the_start_of_a_line(text: str, index: int, start: int) -> None:
    assert line_start(text, index) == start


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a", "\n"), ("a\nb\r\nc", "\r\n"), ("a\r\nb\rc", "\r"), ("a\rb\n", "\n")],
)
def test_the_last_line_break(text: str, expected: str) -> None:
    assert last_line_break(text) == expected
