"""Whether a person sees the output and can answer, and whether a stream takes colours."""

import sys
from collections.abc import Mapping
from typing import TextIO


def use_color(stream: TextIO, environment: Mapping[str, str]) -> bool:
    """Return True at a terminal; NO_COLOR turns colours off, FORCE_COLOR on, also in a log."""
    if environment.get("NO_COLOR"):
        return False
    return bool(environment.get("FORCE_COLOR")) or stream.isatty()


def is_interactive() -> bool:
    """Return True if a person can be asked.

    NOTE: standard input alone does not show it: on Windows the null device is a terminal, too.
    """
    return sys.stdin.isatty() and sys.stdout.isatty()
