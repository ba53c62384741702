"""Lines of recorded answers, and what is said about a line that cannot be read."""

import re

import pytest

from rubric_ci.files.yaml_text.jsonlines import Recording, normalised, read_recording


def test_a_line() -> None:
    line = '{"id": "greeting", "file": "./evals//a.yaml", "answer": "Hello", "cost_usd": 0.1}'
    value = {"id": "greeting", "file": "./evals//a.yaml", "answer": "Hello", "cost_usd": 0.1}
    assert read_recording(line) == Recording("evals/a.yaml", "greeting", value)


def test_a_line_without_file() -> None:
    assert read_recording('{"id": "a", "answer": ""}').file == normalised("") == ""


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"id": "a", "anwser": "Hello"}', "unknown key `anwser`; did you mean `answer`?"),
        ('{"id": 12, "answer": "Hello"}', "`id` must be a non-empty string"),
        ('{"id": "", "answer": "Hello"}', "`id` must be a non-empty string"),
        ('{"id": "a", "file": 1, "answer": "Hello"}', "`file` must be a string"),
        ('{"id": "a"}', "`answer` is missing"),
        ("[1]", "must be a JSON object"),
        ('{"id": "a"', "not JSON: Expecting ',' delimiter at column 11"),
        ("[" * 100_000, "not JSON: nested too deeply"),
    ],
)
def test_what_cannot_be_read(line: str, reason: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(reason)}$"):
        read_recording(line)
