"""Hints for values of another type than intended."""

from typing import Any

import pytest

from rubric_ci.files.validation.schema import read_schema
from rubric_ci.files.validation.schema_wording import diagnose_shape, hint_for
from rubric_ci.values.problems import Path

ADVICE: dict[str, tuple[Path, list[str], Any, str]] = {
    "a range in words": (("score_range",), ["array"], "6 to 10", "write [6, 10]"),
    "a price": (("budget",), ["number"], "$0.10", "write 0.10"),
    "a share": (("weight",), ["number"], "50%", "write 0.5"),
    "one criterion": (("rubrics",), ["array"], "Greets", "write a list: [Greets]"),
    "one that needs quotes": (("tags",), ["array"], "a, b", "write a list: [a, b]"),
    "a long one": (("rubrics",), ["array"], "Greets " * 9, "write a list"),
    "a text for levels": (("levels",), ["array", "object"], "text", ""),
    "a mapping for a list": (("rubrics",), ["array"], {}, "start each entry with `- `"),
    "a message": (("expected_output", 0), ["object"], "A", "write {role: assistant, content: A}"),
    "a text for a field": (("fields", 0), ["object"], "a.b", "write {path: a.b, match: exact}"),
    "a mean": (("aggregator",), ["object"], "code_judge", "write {type: code_judge}"),
    "variables with values": (
        ("env",),
        ["array"],
        {"KEY": "x", "HOME": "y"},
        "write the names of variables: [KEY, HOME]",
    ),
    "a command": (("healthcheck",), ["object"], "x", "write {type: command, command_template: x}"),
    "a text for the file": ((), ["object"], "text", ""),
}


@pytest.mark.parametrize(("path", "wanted", "value", "hint"), ADVICE.values(), ids=ADVICE)
def test_advice(path: Path, wanted: list[str], value: Any, hint: str) -> None:
    assert hint_for(path, wanted, value) == hint


MISREAD: dict[str, tuple[Path, Any, str | None]] = {
    "a colon": (("rubrics", 0), {"Says no": "never"}, 'quote it: "Says no: never"'),
    "a colon at the end": (("rubrics", 0), {"Says no": None}, "quote the whole text"),
    "a misspelt key": (("rubrics", 0), {"expected_outcom": "never"}, None),
    "more than one key": (("rubrics", 0), {"Says no": "never", "weight": 1}, None),
    "a role as a key": (("input", 0), {"user": "hi"}, "write `role: user` and `content: …`"),
    "a role and another key": (("input", 0), {"role": "user", "user": "hi"}, None),
    "a kind as a key": (("content", 0), {"file": "a.md"}, "write `type: file` and `value: …`"),
    "an image as a key": (("content", 0), {"image": "a.png"}, "write `type: image` and `value: …`"),
    "neither": (("content", 0), {"audio": "a.wav"}, None),
    "another place": (("metadata", 0), {"user": "hi"}, None),
}


@pytest.mark.parametrize(("path", "value", "hint"), MISREAD.values(), ids=MISREAD)
def test_misread(path: Path, value: Any, hint: str | None) -> None:
    found = diagnose_shape(read_schema("eval"), path, value)
    assert (found.hint if found else None) == hint
