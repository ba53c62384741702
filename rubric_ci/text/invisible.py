"""Characters without a shape of their own, and where ordinary text needs them.

Unicode calls them `Default_Ignorable_Code_Point`: they can hide an instruction, or split a word
that a filter looks for.
"""

import re
from typing import Final

# Members of a character class, from DerivedCoreProperties.txt of Unicode 16.
IGNORABLE: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)

SHAPED: Final = f"[^\x00-\xa0\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ud800-\udfff{IGNORABLE}]"

# Text or emoji style; one emoji of several, letters of Persian and of scripts of India.
_JOINER: Final = re.compile(
    f"(?<={SHAPED})[\ufe0e\ufe0f]|(?<=[0-9#*])[\ufe0e\ufe0f]"
    f"|(?<={SHAPED})[\u200c\u200d](?={SHAPED})|(?<=\ufe0f)\u200d(?={SHAPED})"
)


_IGNORABLE: Final = re.compile(f"[{IGNORABLE}]")


def is_ignorable(character: str) -> bool:
    """Return True for a character without a shape."""
    return bool(_IGNORABLE.match(character))


def without_ignorable(text: str) -> str:
    """Remove the characters without a shape."""
    return _IGNORABLE.sub("", text)


def is_joiner(text: str, at: int) -> bool:
    """Return True for a joiner or a style of a character next to it that has a shape."""
    return bool(_JOINER.match(text, at))
