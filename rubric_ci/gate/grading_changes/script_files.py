"""The files that a script of any language uses, by the names in its command and in its text.

They are looked for in the text, so a file may be found that is not used.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from posixpath import basename, dirname, join, normpath, splitext
from typing import Final, TypeAlias

from rubric_ci.files.project.links import ancestors, named_paths
from rubric_ci.text.globs import matcher

CODE: Final = frozenset(
    (
        *("", ".awk", ".bash", ".cjs", ".cts", ".go", ".jq", ".js", ".jsx", ".lua", ".mjs", ".mts"),
        *(".php", ".pl", ".pm", ".ps1", ".py", ".pyi", ".rb", ".rs", ".sh", ".ts", ".tsx", ".zsh"),
    )
)
"""Suffixes of files whose text names the files that they use."""
SETTINGS: Final = frozenset((".cfg", ".ini", ".json", ".toml", ".yaml", ".yml"))
"""Suffixes of the settings of other tools, which name files as well."""

_NPM: Final = ("package.json",)
_PYTEST: Final = (
    *("**/test_*.py", "**/*_test.py", "**/conftest.py"),
    *("pyproject.toml", "pytest.ini", "setup.cfg", "tox.ini"),
)
_NODE: Final = (*_NPM, *(f"{'../' * n}package.json" for n in range(1, 5)))
_VITEST: Final = ("**/*.spec.*", "**/*.test.*", "jest.config.*", "vitest.config.*", *_NPM)
UNNAMED: Final = {
    "jest": _VITEST,
    "just": ("justfile", "Justfile"),
    "make": ("GNUmakefile", "Makefile", "makefile"),
    "node": _NODE,
    "nox": ("noxfile.py",),
    "npm": _NPM,
    "npx": _NPM,
    "pnpm": _NPM,
    "promptfoo": ("promptfooconfig.*",),
    "pytest": _PYTEST,
    "task": ("Taskfile.*",),
    "tox": ("tox.ini", "pyproject.toml"),
    "unittest": ("**/test*.py",),
    "vitest": _VITEST,
    "yarn": _NPM,
}
"""Files that a program reads although its command line does not name them, as globs."""

MOST: Final = 500  # files per script

_PACKAGES: Final = frozenset(("__init__", "__main__", "index", "mod"))  # named by their folder
_WORD = re.compile(r"\w[\w-]*(?:\.\w+)*")
_PATH = re.compile(r"[\w./-]+")
_WILD: Final = frozenset("*?[")

Read: TypeAlias = Callable[[str], bytes | None]
"""The content of a file by its path from the root; None: there is no such file."""


Line: TypeAlias = str | tuple[str, ...]
"""A command: a line for a shell, or its words."""


class ScriptFiles:
    def __init__(
        self, paths: Iterable[str], read: Read, links: Mapping[str, str] | None = None
    ) -> None:
        """Take the paths, their content, and the places that links lead to."""
        self._read, self._paths, self._links = read, frozenset(paths), links or {}
        self._odd = [path for path in self._paths if not _PATH.fullmatch(path)]
        self._named: dict[str, set[str]] = defaultdict(set)
        for path in self._paths:
            for name in _names(path):
                self._named[name].add(path)

    def named(self, command: Line, cwd: str) -> frozenset[str]:
        """Return the files that the words of a command are, or match as a shell expands them."""
        words = frozenset(named_paths(command, cwd))
        found = words & self._paths
        if globs := [word for word in words if not _WILD.isdisjoint(word)]:
            found = found.union(filter(matcher(globs), self._paths))
        return found

    def used_by(self, command: Line, cwd: str, read: Set[str] = CODE) -> frozenset[str]:
        """Return the files that a command names, and those that these files name in turn.

        `read` has the suffixes of the files whose text is read.
        """
        home, line = normpath(cwd), (command if isinstance(command, str) else "\n".join(command))
        unnamed, named = set(self._unnamed(line, home)), self.named(command, home)
        found = unnamed | named
        waiting = [(home, line), *((home, self._text(path)) for path in sorted(unnamed))]
        waiting += [(dirname(path) or ".", self._text(path)) for path in _readable(named, read)]
        while waiting and len(found) < MOST:
            folder, text = waiting.pop()
            new = set(self._in(text, {folder, home})) - found
            found |= new
            waiting += [(dirname(path) or ".", self._text(path)) for path in _readable(new, read)]
        return frozenset(found)

    def homes(self, command: Line, cwd: str, *, own: bool) -> frozenset[str]:
        """Return the folders of the files that a command names, also through links.

        `own`: of a command that names none, its working directory.
        """
        named = self.named(command, cwd)
        found = {dirname(each) or "." for path in named for each in (path, self._real(path))}
        return frozenset(found or ({normpath(cwd)} if own else ()))

    def _real(self, path: str) -> str:
        for link in (path, *ancestors(path)):
            if link in self._links:
                return f"{self._links[link]}{path[len(link) :]}"
        return path

    def _unnamed(self, command: str, home: str) -> Iterator[str]:
        """Yield the files that a program reads from its folder without being given their names."""
        words = set(_WORD.findall(command)) & UNNAMED.keys()
        if globs := [glob for word in words for glob in UNNAMED[word]]:
            fits = matcher([normpath(join(home, glob)) for glob in globs])
            yield from filter(fits, self._paths)

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
        yield from (path for path in self._odd if basename(path) in text)

    def _text(self, path: str) -> str:
        return (self._read(path) or b"").decode("utf-8", "replace")


def _module(path: str) -> str:
    """Return the path without suffix; of `lib/__init__.py` it is the folder."""
    stem = splitext(path)[0]
    return dirname(stem) if basename(stem) in _PACKAGES and dirname(stem) else stem


def _names(path: str) -> tuple[str, ...]:
    code = splitext(path)[1] in CODE
    return (basename(path), basename(_module(path))) if code else (basename(path),)


def _readable(paths: Iterable[str], suffixes: Set[str]) -> Iterator[str]:
    return (path for path in sorted(paths) if splitext(path)[1] in suffixes)
