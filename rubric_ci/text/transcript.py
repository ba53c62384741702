"""The text of a conversation, which is its answer: written and read without loss.

Each text follows a line `[user]` or `[assistant]`. Such a line inside a text gets a backslash.
"""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

_HEADING: Final = re.compile(r"(?:\A|\n\n)\[(user|assistant)\]\n")
_LIKE_HEADING: Final = re.compile(r"^(?=\\*\[(?:user|assistant)\]$)", re.MULTILINE)
_SLASH: Final = r"\\"
_ESCAPED: Final = re.compile(r"^\\(?=\\*\[(?:user|assistant)\]$)", re.MULTILINE)


class Exchange(NamedTuple):
    """A message of the user, and the answer to it."""

    user: str
    answer: str


def written(exchanges: Iterable[Exchange]) -> str:
    return "\n\n".join(
        f"[user]\n{_LIKE_HEADING.sub(_SLASH, each.user)}\n\n"
        f"[assistant]\n{_LIKE_HEADING.sub(_SLASH, each.answer)}"
        for each in exchanges
    )


def read_exchanges(text: str) -> tuple[Exchange, ...]:
    """Return the conversation of a text; empty if it is not one."""
    before, *found = _HEADING.split(text)
    roles, texts = found[::2], [_ESCAPED.sub("", each) for each in found[1::2]]
    if before or roles != ["user", "assistant"] * (len(roles) // 2):
        return ()
    return tuple(map(Exchange, texts[::2], texts[1::2]))
