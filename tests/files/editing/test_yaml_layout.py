"""Positions of nodes: each is the text between its start and its end."""

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.files.editing.yaml_layout import (
    ListLayout,
    MappingNode,
    block_lines,
    flow,
    flow_json,
    last_line_break,
    layout,
    line_start,
    scalar,
)


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


TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
DATA = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("abc: #-", max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Names the root cause", "Names the root cause"),
        ("Größe, 東京 🗼", "Größe, 東京 🗼"),
        ("it's fine, isn't it?", "it's fine, isn't it?"),
        ("a:b and a#b", "a:b and a#b"),
        ("uses O(n log n)", "uses O(n log n)"),
        ("-x works", "-x works"),
        ("note: this", '"note: this"'),
        ("ends with:", '"ends with:"'),
        ("a # b", '"a # b"'),
        ("#1", '"#1"'),
        ("*bold*", '"*bold*"'),
        ("&c", '"&c"'),
        ("- item", '"- item"'),
        ("-", '"-"'),
        ("? maybe", '"? maybe"'),
        ("!important", '"!important"'),
        ("%d", '"%d"'),
        ("@home", '"@home"'),
        ("`code` first", '"`code` first"'),
        ("[a]", '"[a]"'),
        ("{a}", '"{a}"'),
        ("> 5", '"> 5"'),
        ("| x", '"| x"'),
        ("~", '"~"'),
        ("<<", '"<<"'),
        ("=", '"="'),
        ("--- x", '"--- x"'),
        ("...", '"..."'),
        ("no", '"no"'),
        ("Yes", '"Yes"'),
        ("y", '"y"'),
        ("null", '"null"'),
        ("12", '"12"'),
        ("1e3", '"1e3"'),
        ("0o17", '"0o17"'),
        ("0x1f", '"0x1f"'),
        ("1:30", '"1:30"'),
        ("1_000", '"1_000"'),
        (".5", '".5"'),
        (".inf", '".inf"'),
        ("2024-01-01", '"2024-01-01"'),
        ("2xx codes", "2xx codes"),
        ("", '""'),
        (" padded ", '" padded "'),
        ('says "no"', 'says "no"'),
        ('"quoted" first', "'\"quoted\" first'"),
        ("'single' first", "\"'single' first\""),
        ("both ' and \": x", '"both \' and \\": x"'),
        ("C:\\dir", "C:\\dir"),
        ("path: C:\\dir", "'path: C:\\dir'"),
        ("a\tb", '"a\\tb"'),
        ("a\nb", '"a\\nb"'),
        ('says "a"\nb: c', '"says \\"a\\"\\nb: c"'),
        ("line\u2028separator", '"line\\u2028separator"'),
        ("runs \u202ebackwards", '"runs \\u202ebackwards"'),
        ("a family 👨\u200d👩\u200d👧", "a family 👨\u200d👩\u200d👧"),
        ("bell\x07", '"bell\\u0007"'),
        ("\ufeffbom", '"\\ufeffbom"'),
    ],
)
def test_scalar(text: str, written: str) -> None:
    assert scalar(text) == written
    assert yaml.safe_load(f"- {written}") == [text]


@pytest.mark.parametrize("text", ["a, b", "a]", "{", "x: y", "why?", "http://x"])
def test_flow_quotes_more(text: str) -> None:
    assert scalar(text, in_flow=True) == f'"{text}"'


def test_block_lines() -> None:
    rubrics = [
        "Says no",
        {"id": "no", "weight": 1e-7, "required": True, "note": None},
        {
            "id": "steps",
            "score_ranges": [{"score_range": [0, 10], "expected_outcome": "One\n\ntwo: x"}],
        },
        [],
    ]
    assert "\n".join(block_lines("rubrics", rubrics, ListLayout(dash=2, item=4))) == (
        """\
rubrics:
  -   Says no
  -   id: "no"
      weight: 1.0e-07
      required: true
      note: null
  -   id: steps
      score_ranges:
        -   score_range: [0, 10]
            expected_outcome: |-
              One

              two: x
  -   []"""
    )


@pytest.mark.parametrize(
    ("value", "lines"),
    [
        (["a", {"b": 1, "c": 2}], ["k:", "  - a", "  - b: 1", "    c: 2"]),
        ([["a, b", "c"], [], {}], ["k:", '  - ["a, b", c]', "  - []", "  - {}"]),
        ({"a": {"b": "c"}}, ["k:", "  a:", "    b: c"]),
        ("a\nb", ["k: |-", "  a", "  b"]),
        ("a\nb\n", ["k: |", "  a", "  b"]),
        ("a\n", ['k: "a\\n"']),
        ("a\n\n", ['k: "a\\n\\n"']),
        ("\na", ['k: "\\na"']),
        ("a\n b", ['k: "a\\n b"']),
        ([1, 2], ["k: [1, 2]"]),
        ([1, True], ["k:", "  - 1", "  - true"]),
        ([], ["k: []"]),
    ],
)
def test_each_kind_of_value(value: Any, lines: list[str]) -> None:
    assert block_lines("k", value, ListLayout()) == lines


@pytest.mark.parametrize("text", ["a, b", "a]", "b: c"])
def test_a_text_in_flow(text: str) -> None:
    assert flow({text: [text]}) == flow_json({text: [text]}) == f'{{"{text}": ["{text}"]}}'


@given(DATA, st.integers(0, 4), st.integers(2, 5))
def test_block_reads_back(value: Any, dash: int, item: int) -> None:
    text = "\n".join(block_lines("key", value, ListLayout(dash=dash, item=item)))
    for loader in (yaml.CSafeLoader, yaml.SafeLoader):
        assert repr(yaml.load(text, loader)) == repr({"key": value})


@given(DATA)
def test_flow_reads_back(value: Any) -> None:
    for loader in (yaml.CSafeLoader, yaml.SafeLoader):
        assert repr(yaml.load(flow(value), loader)) == repr(value)
        assert repr(yaml.load(flow_json(value), loader)) == repr(value)
