"""A line that starts a program: its placeholders, its words, and one word of it for a shell.

Placeholders are `{NAME}` in capitals and `{name}` in small letters; `${NAME}` is left to the shell.
"""

import re
import shlex
import sys
from collections.abc import Mapping
from typing import Final

from rubric_ci.errors import CannotRunScript

_PLACEHOLDER: Final = re.compile(r"(?<!\$)\{([A-Z][A-Z0-9_]*)\}|\{([a-z_]+)\}")

MOST_SHELL: Final = 10_000  # characters of a line that is read word by word


def shell_words(line: str, escape: str = "\\") -> list[str]:
    """Return the words and operators of a shell line; none where it cannot be read as one."""
    if len(line) > MOST_SHELL:  # shlex takes the square of the length of a word
        return []
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters, lexer.escape = True, "", escape
    try:
        return list(lexer)
    except ValueError:  # quotes that only a shell understands
        return []


def placeholders(text: str) -> list[str]:
    """Return the names that a text holds, in braces."""
    return [found[1] or found[2] for found in _PLACEHOLDER.finditer(text)]


def filled(text: str, values: Mapping[str, str]) -> str:
    """Return a text with values, in which nothing is replaced; other names stay as they are."""
    return _PLACEHOLDER.sub(lambda found: values.get(found[1] or found[2], found[0]), text)


# `cmd.exe` replaces `%NAME%` between quotes as well, ends a word at a quote and the command at a
# line break, and has no escape for them that holds in every program. A text with such a character
# is refused there: quoted like an argument of a process, it could start another command.
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
