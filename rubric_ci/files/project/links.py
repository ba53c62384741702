"""The names that paths have through links, and the paths that a command may name."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from posixpath import dirname, join, normpath
from typing import Final

from rubric_ci.text.command_lines_and_variables import shell_words

DEEPEST: Final = 50  # a link to a folder above it would give names without end
_WORD: Final = re.compile(r"""[^\s'"`=;:&|()<>,{}]+""")


def seen_through(links: Mapping[str, str], paths: Iterable[str]) -> tuple[str, ...]:
    """Add the names that changed paths have through links (`links`: link to its destination)."""
    leading = defaultdict(list)
    for link, place in links.items():
        leading[place].append(link)
    seen, waiting = set(paths), list(paths)
    while waiting:
        path = waiting.pop()
        for place in (path, *ancestors(path)):
            names = {f"{link}{path[len(place) :]}" for link in leading.get(place, ())}
            new = {name for name in names if name.count("/") <= DEEPEST} - seen
            seen |= new
            waiting.extend(new)
    return tuple(sorted(seen))


def is_named(path: str, text: str) -> bool:
    """Return True if JSON has a path in one of its texts."""
    return any(each[1:-1] in text for each in (json.dumps(path), f'"{path}"'))


def ancestors(path: str) -> Iterator[str]:
    """Yield the folders above a path, the nearest first."""
    while path := dirname(path).rstrip("/"):  # the folder of `/` is `/`
        yield path


def named_paths(command: str | tuple[str, ...], folder: str) -> Iterator[str]:
    """Yield the words of a command that may be paths, or globs of them, relative to the root."""
    home = normpath(folder)
    for word in dict.fromkeys(_words(command)):
        path = normpath(join(folder, word))
        if path not in {home, "."}:
            yield path


def _words(command: str | tuple[str, ...]) -> Iterator[str]:
    """Yield the words of a list as they are, and of a text as a shell reads them.

    A word may be a line of a shell itself, or a setting: `--rules=a.json`.
    """
    for text in (command,) if isinstance(command, str) else command:
        if not isinstance(command, str):
            yield text
        for word in shell_words(text) or re.split("[\"']", text):
            yield word
            yield word.partition("=")[2]
            if word != text and any(map(str.isspace, word)):
                yield from _words(word)
        yield from _WORD.findall(text.replace("\\", "/"))
