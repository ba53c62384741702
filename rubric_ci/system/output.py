"""The output: whether a person sees it, its colours and width, and blocks of text by others."""

import os
import sys
from collections.abc import Mapping
from io import UnsupportedOperation
from stat import S_ISREG
from typing import TextIO

from rubric_ci.system.actions_runner import in_workflow


def print_block(text: str, *, err: bool = False) -> None:
    """Print a block on standard output, or with `err` on standard error."""
    stream = sys.stderr if err else sys.stdout
    stream.flush()
    stream.buffer.write(_printable(text, stream).encode("utf-8", "surrogateescape"))
    stream.flush()


def _printable(text: str, stream: TextIO) -> str:
    # Output without blocks needs no patterns.
    from rubric_ci.text.escape import disable_workflow_commands, visible

    if stream.isatty():
        return visible(text)
    if not in_workflow(os.environ) or is_file(stream):
        return text
    from secrets import token_hex

    return disable_workflow_commands(visible(text), token_hex(16))


def is_file(stream: TextIO) -> bool:
    try:
        return S_ISREG(os.fstat(stream.fileno()).st_mode)
    except UnsupportedOperation:
        return False


def use_color(stream: TextIO, environment: Mapping[str, str]) -> bool:
    """Return True at a terminal that is not dumb.

    NO_COLOR turns colours off, FORCE_COLOR on, also in a log.
    """
    if environment.get("NO_COLOR"):
        return False
    has_colors = stream.isatty() and environment.get("TERM") != "dumb"
    return bool(environment.get("FORCE_COLOR")) or has_colors


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
