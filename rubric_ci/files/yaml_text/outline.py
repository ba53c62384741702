"""The contents of unparsed eval files, because parsing thousands of them takes seconds."""

import re
from collections.abc import Callable, Iterable

MANY = 300

_PLAIN_NAME = re.compile(r"[A-Za-z0-9_.+@=-]+")
_UNKNOWN = re.compile(r"\\[xuU\r\n]|include[\"']?\s*:")
"""Escapes that can hide a name, and includes of rubric files, which name further files."""
_NAMING = ("script", "command", "depends_on")  # what can name files by their folder, or by globs

_EVALCASES = re.compile(r"^evalcases:[ ]*(?:#.*)?$", re.MULTILINE)
_NEXT_KEY = re.compile(r"^[^\s#-]", re.MULTILINE)
_FIRST = re.compile(r"(?:[ ]*(?:#.*)?\n)*?([ ]*)-( +)\S")


def may_mention(names: Iterable[str]) -> Callable[[str], bool]:
    """Return a predicate on eval files: may one depend on a file with one of these names.

    It returns True if that is unknown: for names that YAML may fold or escape, for files with
    scripts, globs or includes, and for more than `MANY` names.
    """
    folded = sorted({name.casefold() for name in names})
    if len(folded) > MANY or not all(map(_PLAIN_NAME.fullmatch, folded)):
        return lambda _: True
    words = (*_NAMING, *folded)
    return lambda text: _UNKNOWN.search(text) is not None or _holds(text.casefold(), words)


def count_cases(path: str, text: str) -> int | None:
    """Count the cases of a file with the usual layout; None if it must be parsed."""
    if path.endswith(".jsonl"):
        return sum(not line.isspace() for line in text.split("\n") if line)
    text = text.replace("\r\n", "\n")
    starts = list(_EVALCASES.finditer(text))
    if len(starts) != 1 or "\t" in text:
        return None
    rest = text[starts[0].end() + 1 :]
    end = _NEXT_KEY.search(rest)
    cases = rest[: end.start()] if end else rest
    first = _FIRST.match(cases)
    return _count_items(cases, first) if first else None


def _holds(text: str, words: Iterable[str]) -> bool:
    return any(word in text for word in words)


def _count_items(cases: str, first: "re.Match[str]") -> int | None:
    """Count the items, each of which must have its own `id`."""
    dash = first[1]
    keys = " " * (len(dash) + 1 + len(first[2]))
    _, *items = re.split(rf"^{dash}-(?= )", f"\n{cases}", flags=re.MULTILINE)
    own_id = re.compile(rf"(?:\A +|^{keys})[\"']?id[\"']?:", re.MULTILINE)
    return len(items) if all(len(own_id.findall(item)) == 1 for item in items) else None
