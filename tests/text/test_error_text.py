"""An error for users as text."""

import pytest

from rubric_ci.errors import UserError
from rubric_ci.text.escape import error_line, error_text


@pytest.mark.parametrize(
    ("hint", "text", "line"),
    [
        ("set one", "rubric-ci: no judge\n  set one\n", "no judge (set one)"),
        ("", "rubric-ci: no judge\n", "no judge"),
    ],
)
def test_error(hint: str, text: str, line: str) -> None:
    error = UserError("no judge", hint)
    assert (error_text(error), error_line(error)) == (text, line)


def test_a_message_gives_no_workflow_command() -> None:
    assert not error_text(UserError("a\n::error::b", "\n::error::c")).count("\n::")
