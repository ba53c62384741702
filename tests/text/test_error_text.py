"""An error for users as text."""

import pytest

from rubric_ci.errors import UserError
from rubric_ci.text.escape import error_line, error_text


@pytest.mark.parametrize(
    ("error", "text", "line"),
    [
        (
            UserError("no judge", "set one"),
            "rubric-ci: no judge\n  set one\n",
            "no judge (set one)",
        ),
        (UserError("no judge"), "rubric-ci: no judge\n", "no judge"),
    ],
    ids=["with a hint", "without"],
)
def test_error(error: UserError, text: str, line: str) -> None:
    assert error_text(error) == text
    assert error_line(error) == line


def test_a_message_gives_no_workflow_command() -> None:
    assert not error_text(UserError("a\n::error::b", "\n::error::c")).count("\n::")
