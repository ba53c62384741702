"""The commands of a shell line, one by one, that a shell would start, as far as text shows them.

Quotes, comments and here-documents hold no commands; `$(…)`, backquotes, brackets and `sh -c` do.
"""

import re
import shlex
from collections.abc import Iterator
from typing import Final, TypeAlias

Spellings: TypeAlias = tuple[str, ...]
"""One command, as it is written, and without the words before its program."""

_SHELL: Final = re.compile(r"(?:.*/)?(?:ba|z|da|k|a)?sh(?:\.exe)?")
_SEPARATOR: Final = re.compile(r"&&|\|\|?&?|;;?|\n|(?<![<>&])&(?![>&])")
_BEFORE: Final = re.compile(
    r"(?:\w+\s*\(\)\s*\{\s+|(?:if|then|else|elif|do|while|until|time|sudo|command|exec|nohup|env|builtin|!|\{)\s+"
    r"""|[A-Za-z_]\w*=(?:'[^']*'|"[^"]*"|[^\s'"])*\s+)+"""
)
_NO_COMMAND: Final = frozenset(("", "fi", "done", "esac", "}", "else", "do", "then"))
_HERE: Final = re.compile(r"<<-?\s*(['\"]?)(\w+)\1")
_MOST: Final = 20_000  # characters; a longer line is one command
_DEEPEST: Final = 10  # shells in shells


def unwrapped(line: str) -> str:
    """Return the script of `sh -c SCRIPT`, also with a path and other options, or the line."""
    if not _SHELL.fullmatch(line.split(maxsplit=1)[0] if line.split() else ""):
        return line
    try:
        words = shlex.split(line)
    except ValueError:
        return line
    for number, word in enumerate(words[1:-1], start=1):
        if re.fullmatch(r"-[a-zA-Z]*c[a-zA-Z]*", word):
            return words[number + 1]
        if not re.fullmatch(r"-\w+|\+\w+|--\w+|pipefail", word):
            return line
    return line


def commands(line: str, depth: int = 0) -> list[Spellings]:
    """Return the commands of a line in order; `sh -c` is replaced by its commands."""
    if len(line) > _MOST or depth > _DEEPEST:
        return [(line.strip(),)]
    return [each for piece in _pieces(line) for each in _spelled(piece, depth)]


def _spelled(piece: str, depth: int) -> Iterator[Spellings]:
    bare = piece[match.end() :] if (match := _BEFORE.match(piece)) else piece
    own = tuple(dict.fromkeys((piece, bare.strip())))
    inner = unwrapped(bare)
    if inner == bare:
        yield own
    else:
        yield from ((*each, *own) for each in commands(inner, depth + 1))


def _pieces(line: str) -> list[str]:
    found, _ = _scanned(line, 0, "")
    return [piece for piece in (each.strip() for each in found) if piece not in _NO_COMMAND]


def _scanned(text: str, at: int, end: str) -> tuple[list[str], int]:
    """Return the commands up to a closing character, and the place after it."""
    found: list[str] = []
    start, quoted, after = at, False, ""
    while at < len(text):
        here = text[at]
        if here == "\\":
            at += 2
        elif here == end and not quoted:
            return [*found, text[start:at]], at + 1
        elif here == "'" and not quoted:
            at = (text.find("'", at + 1) + 1) or len(text)
        elif here == '"':
            quoted, at = not quoted, at + 1
        elif here == "`" or (text.startswith("$(", at) and text[at + 2 : at + 3] != "("):
            inner, at = _scanned(text, at + (1 if here == "`" else 2), "`" if here == "`" else ")")
            found += inner
        elif quoted:
            at += 1
        elif here == "(":
            inner, place = _scanned(text, at + 1, ")")
            start, at, found = (start if text[start:at].strip() else place), place, [*found, *inner]
        elif here == "#" and (at == start or text[at - 1].isspace()):
            at = text.find("\n", at) if "\n" in text[at:] else len(text)
            found, start = [*found, text[start : text.rfind("#", start, at)]], at
        elif match := _HERE.match(text, at):
            after, at = match[2], match.end()
        elif match := _SEPARATOR.match(text, at):
            found.append(text[start:at])
            at = match.end() if here != "\n" or not after else _after_here(text, at, after)
            start, after = at, "" if here == "\n" else after
        else:
            at += 1
    return [*found, text[start:]], at


def _after_here(text: str, at: int, word: str) -> int:
    """Return the place after a here-document that begins in the next line."""
    match = re.compile(rf"\n\t*{re.escape(word)}(?=\n|$)").search(text, at)
    return match.end() if match else len(text)
