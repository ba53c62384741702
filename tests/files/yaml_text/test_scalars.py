"""What plain scalars mean: as PyYAML's safe loader reads them, with JSON's types."""

import datetime
import math
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from rubric_ci.files.yaml_text.document import Document
from rubric_ci.files.yaml_text.scalars import TooManyDigits, resolve, resolve_core

ODD = {
    "1:30": (90, "sexagesimal"),
    "190:20:30.15": (685230.15, "sexagesimal"),
    "-1:30": (-90, "sexagesimal"),
    "010": (8, "octal"),
    "0b11": (3, "binary"),
    "0x1F": (31, "hexadecimal"),
    "1_000": (1000, "underscores"),
    "1_0.5": (10.5, "underscores"),
    "1e3": ("1e3", "exponent"),
    "0o17": ("0o17", "octal12"),
    "2024-01-31": ("2024-01-31", "date"),
    "2024-13-99": ("2024-13-99", "date"),
    "2001-12-14t21:59:43.10-05:00": ("2001-12-14t21:59:43.10-05:00", "date"),
    ".inf": (math.inf, "not-finite"),
    "-.INF": (-math.inf, "not-finite"),
}


@pytest.mark.parametrize(("text", "expected"), ODD.items(), ids=ODD)
def test_odd_scalars(text: str, expected: tuple[Any, str]) -> None:
    assert resolve(text) == expected


@pytest.mark.parametrize(
    "text", ["0", "7", "-3", "+4", "12345678901234567890", "1.5", "-.5", "+1.5e+3", "2."]
)
def test_plain_numbers_are_not_odd(text: str) -> None:
    value, ambiguity = resolve(text)
    assert ambiguity == ""
    assert value == yaml.safe_load(text)


@pytest.mark.parametrize(
    "text", ["-", "+", ".", "--1", "1.2.3", "1a", "0b", "0b_", "0x__", "08x", "-x", "...", "1 2"]
)
def test_texts_that_start_like_numbers(text: str) -> None:
    assert resolve(text) == (text, "")


def as_json(value: Any) -> Any:
    """Give what PyYAML reads the types that we have: text keys, dates as text."""
    match value:
        case dict():
            return {str(key): as_json(item) for key, item in value.items()}
        case list():
            return [as_json(item) for item in value]
        case datetime.date():
            return "date"
        case _:
            return value


LONG = "a number of more than 300 digits"


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("1" * 300, []),
        ("1" * 301, [LONG]),
        ("100" + "_000" * 99, []),
        ("1000" + "_000" * 99, [LONG]),
        ("1" + "_000" * 2000, [LONG]),  # more than Python's int() takes
        ("-1" + "_000" * 2000, [LONG]),
        ("1" + "_000" * 2000 + ".5", [LONG]),
        ("0" + "7" * 6000, [LONG]),
        ("0x" + "f" * 6000, [LONG]),
        ("0b" + "1_" * 6000 + "1", [LONG]),
        ("1" + ":10" * 3000, [LONG]),
    ],
    ids=lambda value: f"{value[:6]} {len(value)}" if isinstance(value, str) else "",
)
def test_a_number_of_many_digits(text: str, problems: list[str]) -> None:
    found = Document("a.yaml", f"weight: {text}\n").text_problems
    assert [problem.message for _, problem in found] == problems


ALONE = "yes No on ~ null true 0 10 010 1:30 1_0 1.5 .5 -1 +2 0x1f 0b1 1e3 1.0e+3 .inf text a-b"
WORDS = st.sampled_from([*ALONE.split(), "two words", "'q'", '"q"', "!!str 5", "''"])
CORE: dict[str, Any] = {
    "no": "no",
    "Yes": "Yes",
    "on": "on",
    "TRUE": True,
    "Null": None,
    "~": None,
    "1:30": "1:30",
    "0b11": "0b11",
    "1_000": "1_000",
    "0o17": 15,
    "0x1F": 31,
    "017": 17,
    "08": 8,
    "+5": 5,
    "1e3": 1000.0,
    ".5": 0.5,
    "1.": 1.0,
    "-.inf": -math.inf,
    "1.2.3": "1.2.3",
    "2024-01-31": "2024-01-31",
}


def test_the_core_schema_of_yaml_1_2() -> None:
    text = "".join(f"k{index}: {written}\n" for index, written in enumerate(CORE))
    document = Document("a.yaml", text, core=True)
    assert list(document.data.values()) == list(CORE.values())
    assert document.ambiguous_paths("date") == [("k19",)]


def test_a_number_of_the_core_schema_is_bounded() -> None:
    with pytest.raises(TooManyDigits):
        resolve_core("9" * 301)


KEYS = st.from_regex(r"[a-z]{1,5}[0-9]", fullmatch=True)


@given(st.dictionaries(KEYS, WORDS, min_size=1, max_size=6))
def test_data_is_what_pyyaml_reads(values: dict[str, str]) -> None:
    text = "".join(f"{key}: {value}\n" for key, value in values.items())
    document = Document("a.yaml", text)
    assert document.text_problems == []
    assert document.data == as_json(yaml.safe_load(text))
