"""A change of one file as a unified diff that `git apply` and `patch` take."""

import re
from difflib import unified_diff

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_NO_NEWLINE = "\n\\ No newline at end of file\n"


def unified(path: str, before: str, after: str) -> str:
    """Return the diff, or nothing where there is no change; lines end at LF only."""
    lines = unified_diff(
        _LINE.findall(before), _LINE.findall(after), f"a/{_name(path)}", f"b/{_name(path)}"
    )
    return "".join(line if line.endswith("\n") else line + _NO_NEWLINE for line in lines)


def _name(path: str) -> str:
    """Let a name with blanks end where it ends, as git does."""
    return f"{path}\t" if " " in path else path
