import pytest

from rubric_ci.errors import CannotRunScript
from rubric_ci.text.command_lines_and_variables import filled, placeholders, shell_quote


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bot {PORT} {PORT_DB2}", "bot 80 81"),
        ("bot ${PORT} $PORT", "bot ${PORT} $PORT"),
        ("cat {file} ${file}", "cat /a/{PORT} $/a/{PORT}"),
        ("awk '{print}' {OTHER} {Port} {} {{PORT}}", "awk '{print}' {OTHER} {Port} {} {80}"),
    ],
)
def test_only_known_names_are_replaced_and_no_value_is_read(text: str, expected: str) -> None:
    values = {"PORT": "80", "PORT_DB2": "81", "file": "/a/{PORT}"}
    assert filled(text, values) == expected


def test_the_names_of_a_text() -> None:
    assert placeholders("run {PROMPT} ${HOME} {file}") == ["PROMPT", "file"]


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
