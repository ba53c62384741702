"""Whether a person sees the output and can answer, its colours, and its width."""

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


def wrapped(text: str, stream: TextIO) -> str:
    """Return a text whose long lines end at a word at a terminal; unchanged elsewhere."""
    if not stream.isatty():
        return text
    # A command without a message to show needs neither.
    from shutil import get_terminal_size
    from textwrap import TextWrapper

    wrapper = TextWrapper(
        width=get_terminal_size((100, 24)).columns,
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(map(wrapper.fill, text.split("\n")))
