"""Whether a stream takes colours."""

from collections.abc import Mapping
from typing import TextIO


def use_color(choice: str, stream: TextIO, environment: Mapping[str, str]) -> bool:
    """Return True if `--color` asks for colours; `auto`: at a terminal, unless NO_COLOR is set."""
    if choice == "auto":
        return stream.isatty() and not environment.get("NO_COLOR")
    return choice == "always"
