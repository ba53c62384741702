r"""Regular expressions of JavaScript: which ones RE2 reads in the same way.

NOTE: `\s` is any Unicode white space there, and `.` no carriage return; both are taken over.
"""

import re
from typing import Final

_TOKEN: Final = re.compile(
    r"\\(?:x[0-9A-Fa-f]{2}|.)|\(\?(?:<[=!]|<\w+>|P?.)?|\[\[:|\[\^?\]", re.DOTALL
)
_SAME_LETTERS: Final = frozenset("dDsSwWbBnrtfv")


def other_meaning(pattern: str) -> str:
    """Return the first part that RE2 reads in another way, or not at all; "": there is none."""
    return next((each[0] for each in _TOKEN.finditer(pattern) if not _is_same(each[0])), "")


def _is_same(part: str) -> bool:
    if part.startswith("\\"):
        letter = part[1:]
        return len(letter) > 1 or letter in _SAME_LETTERS or not letter.isalnum()
    return part == "(?:" or (part.startswith("(?<") and part.endswith(">"))
