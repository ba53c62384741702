"""Print text of several lines that others wrote, and that programs may want byte by byte: diffs.

A file receives the text as it is. A terminal shows control characters as escapes; on a GitHub
runner the text stands between markers that stop workflow commands.
"""

import os
import sys
from io import UnsupportedOperation
from stat import S_ISREG
from typing import TextIO

from rubric_ci.system.runner import in_workflow


def print_block(text: str, *, err: bool = False) -> None:
    """Print a block on standard output, or with `err` on standard error."""
    stream = sys.stderr if err else sys.stdout
    stream.flush()
    stream.buffer.write(_shown(text, stream).encode("utf-8", "surrogateescape"))
    stream.flush()


def _shown(text: str, stream: TextIO) -> str:
    from rubric_ci.text.escape import visible  # output without blocks needs no patterns

    if stream.isatty():
        return visible(text)
    if not in_workflow(os.environ) or is_file(stream):
        return text
    from secrets import token_hex

    from rubric_ci.text.workflow_commands import disable_workflow_commands

    return disable_workflow_commands(visible(text), token_hex(16))


def is_file(stream: TextIO) -> bool:
    """Return True if a stream goes to a regular file."""
    try:
        return S_ISREG(os.fstat(stream.fileno()).st_mode)
    except UnsupportedOperation:
        return False
