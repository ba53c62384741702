"""Which files of the repository a script of `code_judge` uses: those that it names or imports.

Names are looked for in the text of any language, so a file may be listed that is not used.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Set
from posixpath import basename, dirname, join, normpath, splitext
from typing import Final

from rubric_ci.model.evals import CodeJudgeSpec

CODE: Final = frozenset(
    (
        *("", ".bash", ".cjs", ".cts", ".go", ".js", ".jsx", ".lua", ".mjs", ".mts", ".php"),
        *(".pl", ".ps1", ".py", ".pyi", ".rb", ".rs", ".sh", ".ts", ".tsx", ".zsh"),
    )
)
MOST: Final = 500  # files per script

_PACKAGES: Final = frozenset(("__init__", "__main__", "index", "mod"))  # named by their folder
_WORD = re.compile(r"\w[\w-]*(?:\.\w+)*")
_PATH = re.compile(r"[\w./-]+")

Read = Callable[[str], bytes | None]
"""The content of a file by its path from the root; None: there is no such file."""


class ScriptFiles:
    """The files of a repository, by the words that may name them."""

    def __init__(self, paths: Iterable[str], read: Read) -> None:
        self._read, self._paths = read, frozenset(paths)
        self._named: dict[str, set[str]] = defaultdict(set)
        for path in self._paths:
            for name in _names(path):
                self._named[name].add(path)

    def used_by(self, spec: CodeJudgeSpec) -> frozenset[str]:
        """Return the files that a command names, and those that these files name in turn."""
        command = spec.script if isinstance(spec.script, str) else "\n".join(spec.script)
        home = normpath(spec.cwd)
        found: set[str] = set()
        waiting = [(home, command)]
        while waiting and len(found) < MOST:
            folder, text = waiting.pop()
            new = set(self._in(text, {folder, home})) - found
            found |= new
            waiting += [(dirname(path) or ".", self._text(path)) for path in sorted(new)]
        return frozenset(found)

    def _in(self, text: str, folders: Set[str]) -> Iterator[str]:
        """Yield the files that a text names; a folder that is not its own is named as well."""
        relative = {normpath(join(at, name)) for at in folders for name in _PATH.findall(text)}
        yield from relative & self._paths
        words = {part for word in _WORD.findall(text) for part in (word, *word.split("."))}
        for word in words & self._named.keys():
            for path in self._named[word]:
                above = dirname(_module(path)) or "."
                if above in folders or basename(above) in words:
                    yield path

    def _text(self, path: str) -> str:
        data = self._read(path) if splitext(path)[1] in CODE else None
        return (data or b"").decode("utf-8", "replace")


def _module(path: str) -> str:
    """Return the path without suffix; of `lib/__init__.py` it is the folder."""
    stem = splitext(path)[0]
    return dirname(stem) if basename(stem) in _PACKAGES and dirname(stem) else stem


def _names(path: str) -> tuple[str, ...]:
    code = splitext(path)[1] in CODE
    return (basename(path), basename(_module(path))) if code else (basename(path),)
