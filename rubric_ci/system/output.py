"""Print text of several lines that others wrote, and that programs may want byte by byte: diffs.

A file receives the text as it is. A terminal shows control characters as escapes; on a GitHub
runner the text stands between markers that stop workflow commands.
"""

import os
import sys
from io import UnsupportedOperation
from stat import S_ISREG
from typing import TextIO

from rubric_ci.text import escape


def print_block(text: str, *, aside: bool = False) -> None:
    """Print a block on standard output; aside: on standard error."""
    stream = sys.stderr if aside else sys.stdout
    stream.flush()
    stream.buffer.write(_shown(text, stream).encode("utf-8", "surrogateescape"))
    stream.flush()


def _shown(text: str, stream: TextIO) -> str:
    if stream.isatty():
        return escape.visible(text)
    if os.environ.get("GITHUB_ACTIONS") != "true" or is_file(stream):
        return text
    from secrets import token_hex

    from rubric_ci.text.workflow_commands import disable_workflow_commands

    return disable_workflow_commands(escape.visible(text), token_hex(16))


def is_file(stream: TextIO) -> bool:
    """Return True if a stream goes to a regular file."""
    try:
        return S_ISREG(os.fstat(stream.fileno()).st_mode)
    except UnsupportedOperation:
        return False
