"""The names that paths have through links, and the paths that a command may name."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from posixpath import dirname, join, normpath
from typing import Final

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


def ancestors(path: str) -> Iterator[str]:
    """Yield the folders above a path, the nearest first."""
    while path := dirname(path).rstrip("/"):  # the folder of `/` is `/`
        yield path


def named_paths(script: str | tuple[str, ...], folder: str) -> Iterator[str]:
    """Yield the words of a command that may be paths, relative to the root."""
    for text in (script,) if isinstance(script, str) else script:
        for word in _WORD.findall(text.replace("\\", "/")):
            path = normpath(join(folder, word))
            if path not in {normpath(folder), "."}:
                yield path
