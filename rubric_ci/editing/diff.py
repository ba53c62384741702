"""A change of one file as a unified diff for `git apply` and `patch`."""

import re
from difflib import unified_diff

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_NO_NEWLINE = "\n\\ No newline at end of file\n"


def unified(path: str, before: str, after: str) -> str:
    """Return the diff, or "" without a change; only LF ends a line."""
    lines = unified_diff(
        _LINE.findall(before), _LINE.findall(after), f"a/{_name(path)}", f"b/{_name(path)}"
    )
    return "".join(line if line.endswith("\n") else line + _NO_NEWLINE for line in lines)


def _name(path: str) -> str:
    """Return a path with a tab after it if it has blanks, as git writes it."""
    return f"{path}\t" if " " in path else path
