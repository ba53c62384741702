import pytest

from rubric_ci.text.command_lines import filled, placeholders


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
