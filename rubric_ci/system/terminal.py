"""Whether a person sees the output and can answer, and whether a stream takes colours."""

import sys
from collections.abc import Mapping
from typing import TextIO


def use_color(choice: str, stream: TextIO, environment: Mapping[str, str]) -> bool:
    """Return True if `--color` asks for colours; `auto`: at a terminal, unless NO_COLOR is set."""
    if choice == "auto":
        return stream.isatty() and not environment.get("NO_COLOR")
    return choice == "always"


def is_interactive() -> bool:
    """Return True if a person can be asked.

    NOTE: standard input alone does not show it: on Windows the null device is a terminal, too.
    """
    return sys.stdin.isatty() and sys.stdout.isatty()
