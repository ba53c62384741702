"""The text of a file is the same in every checkout."""

import pytest

from rubric_ci.values.references import file_text

TEXTS = {
    "as in git": (b"a\nb\n", "a\nb\n"),
    "as git for Windows checks it out": (b"a\r\nb\r\n", "a\nb\n"),
    "mixed, and no final newline": (b"a\nb\r\nc", "a\nb\nc"),
    "with a byte order mark": (b"\xef\xbb\xbfa\r\n", "a\n"),
    "a carriage return that ends no line": (b"50 %\r100 %\n", "50 %\r100 %\n"),
    "two, of which one ends the line": (b"a\r\r\n", "a\r\n"),
}


@pytest.mark.parametrize(("data", "text"), TEXTS.values(), ids=TEXTS)
def test_file_text(data: bytes, text: str) -> None:
    assert file_text(data) == text


def test_what_is_not_text() -> None:
    assert file_text(b"a\xff", "replace") == "a\ufffd"
    with pytest.raises(UnicodeDecodeError):
        file_text(b"a\xff")
