"""An error for users as text."""

from rubric_ci.errors import UserError
from rubric_ci.text.escape import log_line


def error_text(error: UserError) -> str:
    """Return the lines that end a command: the message, and below it the hint."""
    hint = f"  {log_line(error.hint)}\n" if error.hint else ""
    return f"{log_line(f'rubric-ci: {error.message}')}\n{hint}"


def error_line(error: UserError) -> str:
    """Return message and hint as one line, for an error that does not end the command."""
    return f"{error.message} ({error.hint})" if error.hint else error.message
