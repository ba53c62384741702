"""Placeholders in a line that starts a program: `{NAME}` in capitals, `{name}` in small letters.

`${NAME}` is left to the shell.
"""

import re
from collections.abc import Mapping
from typing import Final

_PLACEHOLDER: Final = re.compile(r"(?<!\$)\{([A-Z][A-Z0-9_]*)\}|\{([a-z_]+)\}")


def placeholders(text: str) -> list[str]:
    """Return the names that a text holds, in braces."""
    return [found[1] or found[2] for found in _PLACEHOLDER.finditer(text)]


def filled(text: str, values: Mapping[str, str]) -> str:
    """Return a text with values, in which nothing is replaced; other names stay as they are."""
    return _PLACEHOLDER.sub(lambda found: values.get(found[1] or found[2], found[0]), text)
