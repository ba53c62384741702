"""The places of quotes in a text.

White space, case, Unicode forms and text that a quote leaves out are ignored, as in the check of
quotes (`models/judge/reply_checks.py`).
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import TypeAlias

Span: TypeAlias = tuple[int, int]
"""The first character and the one after the last."""

_LEFT_OUT = re.compile(r"(?<!\S)\.(?:\s?\.){2,}|\.{3,}|…")  # "so ... it is"
_PARTS = re.compile(r"(?P<space>\s+)|(?P<ascii>[!-~]+)|\S")  # signs of ASCII have one form each
_STRAIGHT = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"'})


def places(text: str, quotes: Iterable[str]) -> list[Span]:
    """Return the places of the quotes: ascending, without overlap.

    A quote that is not in the text has no place.
    """
    found: list[Span] = []
    folded: tuple[str, list[Span]] | None = None
    for quote in filter(None, quotes):
        start = text.find(quote)
        if start >= 0:
            found.append((start, start + len(quote)))
            continue
        folded = folded or _folded(text)
        found.extend(_pieces(quote, *folded))
    return [*_merged(sorted(found))]


def pieces(text: str, quote: str) -> list[Span]:
    """Return the place of each piece of a quote, in its order; empty if one is missing."""
    return _pieces(quote, *_folded(text))


def _pieces(quote: str, text: str, places: list[Span]) -> list[Span]:
    found, position = [], 0
    for piece in _LEFT_OUT.split(quote):
        words = _folded(piece)[0].strip(" \"'")
        if not words:
            continue
        start = text.find(words, position)
        if start < 0:
            return []
        position = start + len(words)
        found.append((places[start][0], places[position - 1][1]))
    return found


def _folded(text: str) -> tuple[str, list[Span]]:
    """Return the text in one form, and the place in `text` of each of its characters."""
    letters: list[str] = []
    places: list[Span] = []
    for match in _PARTS.finditer(text):
        start, end = match.span()
        if match.lastgroup == "ascii":
            letters.append(match[0].lower())
            places.extend(zip(range(start, end), range(start + 1, end + 1), strict=True))
            continue
        letter = " " if match.lastgroup == "space" else _letter(match[0])
        letters.append(letter)
        places.extend([(start, end)] * len(letter))
    return "".join(letters), places


def _letter(sign: str) -> str:
    if unicodedata.category(sign) == "Cf":
        return ""
    return unicodedata.normalize("NFKC", sign).translate(_STRAIGHT).casefold()


def _merged(spans: list[Span]) -> Iterator[Span]:
    ends = [*accumulate((end for _, end in spans), max)]
    start = 0
    for position, (begin, _) in enumerate(spans):
        if position and begin > ends[position - 1]:
            yield spans[start][0], ends[position - 1]
            start = position
    if spans:
        yield spans[start][0], ends[-1]
