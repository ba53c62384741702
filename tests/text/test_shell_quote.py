"""Words of a command line: what a shell is given, and what cmd.exe cannot be given."""

import pytest

from rubric_ci.errors import CannotRunScript
from rubric_ci.text.command_lines import shell_quote

REFUSED = (
    "a command line of cmd.exe cannot hold a text with {}; write `{{PROMPT_FILE}}` where it "
    "has `{{PROMPT}}`, and let the command read the file"
)


@pytest.mark.parametrize(
    ("text", "posix", "windows"),
    [
        ("hello", "hello", '"hello"'),
        ("", "''", '""'),
        ("a b", "'a b'", '"a b"'),
        ("a & del b", "'a & del b'", '"a & del b"'),
        ("a|b>c<d^(e)", "'a|b>c<d^(e)'", '"a|b>c<d^(e)"'),
        ("C:\\a b\\", "'C:\\a b\\'", '"C:\\a b\\\\"'),
        ("$HOME `id`", "'$HOME `id`'", '"$HOME `id`"'),
    ],
)
def test_a_word(text: str, posix: str, windows: str) -> None:
    assert shell_quote(text, "linux") == posix
    assert shell_quote(text, "win32") == windows


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ('a" & calc & "', '`"`'),
        ("100 %PATH%", "`%`"),
        ("hi!", "`!`"),
        ("one\ntwo", "a line break"),
        ("one\r", "a line break"),
        ("one\0", "a null character"),
    ],
)
def test_what_cmd_cannot_be_given(text: str, sign: str) -> None:
    with pytest.raises(CannotRunScript) as refused:
        shell_quote(text, "win32")
    assert str(refused.value) == REFUSED.format(sign)
