"""Words that are kept in a file."""

import shlex

import pytest

from rubric_ci.parts.bring.dialects.promptfoo_targets import written_word


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("a.py", "a.py"),
        ("my files/a.py", '"my files/a.py"'),
        ("it's (1) & 2;", '"it\'s (1) & 2;"'),
        ("", '""'),
        ("$HOME", "'$HOME'"),
        ('{"a": 1}', "'{\"a\": 1}'"),
        ("C:\\a b", "'C:\\a b'"),
        ("100 %", "'100 %'"),
    ],
)
def test_a_word_that_is_kept(text: str, word: str) -> None:
    assert written_word(text) == word
    assert shlex.split(word) == [text]
