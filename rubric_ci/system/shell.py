"""One word of a command line, for the shell of the platform.

`cmd.exe` replaces `%NAME%` between quotes as well, ends a word at a quote and the command at a line
break, and has no escape for them that holds in every program. A text with such a character is
refused there: quoted like an argument of a process, it could start another command.
"""

import re
import shlex
import sys
from typing import Final

from rubric_ci.errors import CannotRunScript

_UNSAFE: Final = re.compile(r'["%!\r\n\0]')
_NAMES: Final = {"\r": "a line break", "\n": "a line break", "\0": "a null character"}


def shell_quote(text: str, platform: str = sys.platform) -> str:
    """Return the text as one word; raises CannotRunScript for one that cmd.exe cannot be given."""
    if platform != "win32":
        return shlex.quote(text)
    if found := _UNSAFE.search(text):
        sign = _NAMES.get(found[0], f"`{found[0]}`")
        raise CannotRunScript(
            f"a command line of cmd.exe cannot hold a text with {sign}; write `{{PROMPT_FILE}}` "
            "where it has `{PROMPT}`, and let the command read the file"
        )
    slashes = text[len(text.rstrip("\\")) :]  # doubled, or the last one would escape the quote
    return f'"{text}{slashes}"'
