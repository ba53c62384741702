"""Globs over paths of a repository with forward slashes; `**` crosses folders, `!` excludes.

A regular expression would backtrack over the positions of several wildcards. Here all wildcards
advance along the path together, so the time is linear in the length of the path.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple, TypeAlias

Matches: TypeAlias = Callable[[str], bool]

_FOLDERS, _ALL, _SOME, _ONE = "**/", "**", "*", "?"
_INSIDE: Final = "inside **/"
_END: Final = ""
_CLASS = re.compile(r"\[!?\]?[^]/]*\]")
_OTHER = re.compile(r"\*\*/|\*\*|.", re.DOTALL)


class TooManyComparisons(Exception):
    """Globs and paths are too many to test each glob on each path."""

    def __init__(self) -> None:
        super().__init__("there are too many globs and files to test each glob on each file")


class _Glob(NamedTuple):
    first: str  # every path that fits begins with it
    last: str  # and ends with it
    fits: Matches

    def matches(self, path: str) -> bool:
        """Return True if the path matches, or a folder above it that the glob names."""
        return path.startswith(self.first) and path.endswith(self.last) and self.fits(path)


class Comparisons:
    """How many paths may still be looked at: a limit for many globs and many paths together."""

    MOST: Final = 200_000  # tests of a path by all parts of a glob, a few seconds
    WHOLE: Final = 32  # looks: such a test

    def __init__(self) -> None:
        self._left = self.MOST * self.WHOLE

    def spend(self, looks: int) -> None:
        """Count paths that are looked at; raise TooManyComparisons."""
        self._left -= looks
        if self._left < 0:
            raise TooManyComparisons


class PathIndex:
    """Paths that many globs are tested on."""

    def __init__(self, paths: Iterable[str], comparisons: Comparisons) -> None:
        """Index the paths; their order is lost."""
        self.paths = tuple(sorted(paths))
        self._comparisons = comparisons
        self._of_glob = cache(self._paths_of_glob)

    def matching(self, globs: Sequence[str]) -> tuple[str, ...]:
        """Return the paths that match, in order; raise TooManyComparisons."""
        added = [self._of_glob(glob) for glob in globs if not glob.startswith("!")]
        self._comparisons.spend(sum(map(len, added)))
        found = sorted(set[str]().union(*added))
        if len(added) == len(globs):
            return tuple(found)
        self._comparisons.spend(len(found) * len(globs) * Comparisons.WHOLE)
        return tuple(filter(matcher(globs), found))

    def _paths_of_glob(self, glob: str) -> tuple[str, ...]:
        first = _compile(glob).first
        start = bisect_left(self.paths, first)
        end = bisect_right(self.paths, first + chr(0x10FFFF), start)
        return tuple(matching(glob, self.paths[start:end], self._comparisons))


def matching(glob: str, paths: Iterable[str], comparisons: Comparisons) -> Iterator[str]:
    """Yield the paths that match a glob, which takes none away; raise TooManyComparisons."""
    first, last, fits = _compile(glob)
    for path in paths:
        may = path.startswith(first) and path.endswith(last)
        comparisons.spend(Comparisons.WHOLE if may else 1)
        if may and fits(path):
            yield path


def matcher(globs: Iterable[str]) -> Matches:
    """Return a predicate on paths; the last glob that fits a path decides.

    A glob without wildcards in its last part names a file, or a folder and all below it.
    """
    rules = [(not glob.startswith("!"), _compile(glob.removeprefix("!")).matches) for glob in globs]

    def matches(path: str) -> bool:
        return next((adds for adds, fits in reversed(rules) if fits(path)), False)

    return matches


def _compile(glob: str) -> _Glob:
    plain = glob.removeprefix("./").rstrip("/")
    folder = plain.removesuffix("/**")  # the folder itself as well: a submodule is one path
    whole = folder != plain or not re.search(r"[*?[]", plain.rsplit("/", 1)[-1])
    first, *others = re.split(r"[][*?]", folder)
    last = "" if whole or not others else others[-1]
    tokens = (*_tokens(folder), _END)
    takes = tuple(map(_takes, tokens))
    return _Glob(first, last, lambda path: _fits(tokens, takes, path, whole=whole))


def _tokens(glob: str) -> Iterator[str]:
    """Yield wildcards, classes and single characters; a bracket that nothing closes is one."""
    for part in re.findall(r"[^/]*/|[^/]+", glob):
        at, closed = 0, part.rfind("]")
        while at < len(part):
            bracket = part[at] == "[" and at < closed
            found = _CLASS.match(part, at) if bracket else _OTHER.match(part, at)
            token = found[0] if found else part[at]
            yield from (_FOLDERS, _INSIDE) if token == _FOLDERS else (token,)
            at += len(token)


def _takes(token: str) -> Matches:
    """Return the test whether a token goes on to the next one with a character."""
    if token in {_FOLDERS, _ALL, _SOME, _END}:
        return lambda _: False
    if token == _ONE:
        return lambda character: character != "/"
    if token.startswith("[") and len(token) > 1:
        fullmatch = _character(token[1:-1]).fullmatch
        return lambda character: fullmatch(character) is not None
    return ("/" if token == _INSIDE else token).__eq__


def _character(inside: str) -> re.Pattern[str]:
    """Return `[a-z]` or `[!a-z]` as a pattern; a range without members matches nothing."""
    negated, members = ("^", inside[1:]) if inside.startswith("!") else ("", inside)
    literal = re.sub(r"[^\w-]", r"\\\g<0>", members)
    try:
        return re.compile(f"(?!/)[{negated}{literal}]")
    except re.error:
        return re.compile("(?!)")


def _fits(tokens: Sequence[str], takes: Sequence[Matches], path: str, *, whole: bool) -> bool:
    """Return True if the path matches, or with `whole` a folder above it."""
    end = len(tokens) - 1
    states = _reached(tokens, [0])
    for character in path:
        if whole and character == "/" and end in states:
            return True
        stay = (at for at in states if _stays(tokens[at], character))
        moved = (at + 1 for at in states if takes[at](character))
        states = _reached(tokens, [*stay, *moved])
    return end in states


def _stays(token: str, character: str) -> bool:
    return token in {_ALL, _INSIDE} or (token == _SOME and character != "/")


def _reached(tokens: Sequence[str], states: Iterable[int]) -> set[int]:
    """Add the tokens after each wildcard that may stand for nothing."""
    reached = set[int]()
    for state in states:
        at = state
        while at not in reached:
            reached.add(at)
            if tokens[at] == _FOLDERS:
                reached.add(at + 1)
            at += {_FOLDERS: 2, _ALL: 1, _SOME: 1}.get(tokens[at], 0)
    return reached
