"""Positions of values in a line of JSON."""

import pytest

from rubric_ci.files.yaml_text.jsonlines import JsonPositions
from rubric_ci.values.problems import Path

LINE = ' {"a" : [1, {"b\\u0021": "x"} , ""], "c": -1.5, "a": 2}\r'

VALUES: dict[str, tuple[Path, str]] = {
    "all": ((), "{"),
    "the first of a key": (("a",), "["),
    "an entry": (("a", 1), "{"),
    "below an escaped key": (("a", 1, "b!"), '"x"'),
    "an empty text": (("a", 2), '""'),
    "a number": (("c",), "-1.5"),
}


@pytest.mark.parametrize(("path", "text"), VALUES.values(), ids=VALUES)
def test_the_place_of_a_value(path: Path, text: str) -> None:
    places = JsonPositions(LINE)
    for _ in range(2):  # read, and remembered
        start, end = places.offset_of(path)
        assert LINE[start:end] == text


def test_keys_and_what_is_missing() -> None:
    places = JsonPositions(LINE)
    start, end = places.offset_of(("a", 1, "b!"), at_key=True)
    assert LINE[start:end] == '"b\\u0021"'
    owner = places.offset_of(("a",))
    assert places.offset_of(("a", 7)) == owner == (8, 9)
    assert places.offset_of(("c", "d")) == (LINE.index("-"), LINE.index("-") + 1)
