"""Words of a command line that is kept in a file, for the shells of several platforms."""

import re
import shlex
from typing import Final

_READ: Final = re.compile(r'["$`\\%!\r\n\0]')  # between double quotes, by one of the shells


def written_word(text: str) -> str:
    """Return the text as a word: where it can be, for a POSIX shell and for cmd.exe.

    cmd.exe takes double quotes only; a POSIX shell reads some characters between them.
    """
    if shlex.quote(text) == text or _READ.search(text):
        return shlex.quote(text)
    return f'"{text}"'
