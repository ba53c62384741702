"""The program and the script file that a command starts, as far as its text shows."""

import re
import shlex
from collections.abc import Sequence
from typing import Final, NamedTuple

_OPERATORS: Final = frozenset(";|&<>()")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_SCRIPT = re.compile(r"\.(?:py|[cm]?[jt]sx?|rb|pl|php|sh|bash|ps1)$")
_INTERPRETER = re.compile(
    r"(?:python[\d.]*|node|bun|deno|tsx|ts-node|ruby|perl|php|bash|sh|zsh|pwsh|uv)(?:\.exe)?"
)
_CODE_OPTIONS: Final = frozenset({"-c", "-e", "-m", "-p", "--eval", "--print"})
_OF_SHELL: Final = frozenset(
    {"cd", "exit", "export", "source", ".", "set", "unset", "eval", "exec", "command", "type"}
    | {"if", "for", "while", "until", "case", "function", "!", "{", "[[", "time", "trap", "wait"}
    | {"umask", "ulimit", "read", "local", "return", "shift", ":", "alias", "pushd", "popd"}
)


class Started(NamedTuple):
    """The program and script that a command starts; empty if the text does not show them."""

    program: str = ""
    script: str = ""


def read_command(command: str | Sequence[str]) -> Started:
    """Return the first program of a shell command or a list of words."""
    words = _first_command(command) if isinstance(command, str) else list(command)
    if not words or (isinstance(command, str) and words[0] in _OF_SHELL):
        return Started()
    program = words[0] if _is_plain(words[0]) else ""
    return Started(program=program, script=_script(words) if program else "")


def _first_command(line: str) -> list[str]:
    """Return the words of the first simple command of a shell line; none if PATH is set."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        tokens = list(lexer)
    except ValueError:  # quotes that only a shell understands
        return []
    words: list[str] = []
    for token in tokens:
        if set(token) <= _OPERATORS:
            break
        if words or not _ASSIGNMENT.match(token):
            words.append(token)
        elif token.startswith("PATH="):
            return []
    return words


def _script(words: Sequence[str]) -> str:
    """Return the file that an interpreter runs."""
    if not _INTERPRETER.fullmatch(re.split(r"[/\\]", words[0])[-1]):
        return ""
    for word in words[1:]:
        if word in _CODE_OPTIONS:
            return ""
        if _SCRIPT.search(word) and not word.startswith("-"):
            return word if _is_plain(word) else ""
    return ""


def _is_plain(word: str) -> bool:
    """Return True for a word that neither a shell nor rubric-ci replaces."""
    return bool(word) and "://" not in word and not any(sign in word for sign in "${}*?`~[]")
