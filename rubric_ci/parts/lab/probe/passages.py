"""Places in an answer: its sentences, and the places of a judge's quote."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from rubric_ci.values.dataclass import dataclass

_ENDS: Final = re.compile(r"[.!?](?=\s)|\n")
_LEFT_OUT: Final = re.compile(r"\.{3,}|…")
LONGEST_QUOTE: Final = (
    2000  # characters; a longer one is the whole answer rather than a place in it
)


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """The characters `start` up to `end` of an answer."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """Return the characters themselves."""
        return text[self.start : self.end]

    def overlaps(self, other: "Span") -> bool:
        """Return True if they share a character."""
        return self.start < other.end and other.start < self.end


def sentences(text: str) -> tuple[Span, ...]:
    """Return the sentences and lines of a text, without the white space around them."""
    return tuple(_sentences(text))


def locate(quote: str, answer: str) -> tuple[Span, ...]:
    """Return the places of a quote; white space, case and the form of quotation marks are ignored.

    A quote may leave text out with `...`: its pieces are then in this order. Empty: the answer
    does not have every piece.
    """
    text, places = _folded(answer)
    found: list[Span] = []
    at = 0
    for piece in _LEFT_OUT.split(quote[:LONGEST_QUOTE]):
        wanted = _folded(piece)[0].strip(" \"'")
        if not wanted:
            continue
        start = text.find(wanted, at)
        if start < 0:
            return ()
        at = start + len(wanted)
        found.append(Span(places[start], places[at - 1] + 1))
    return tuple(found)


def around(places: tuple[Span, ...], text: str) -> tuple[Span, ...]:
    """Return the sentences that these places are in."""
    return tuple(each for each in sentences(text) if any(map(each.overlaps, places)))


def without(text: str, places: tuple[Span, ...]) -> str:
    """Return the text without these places and without the gaps that they leave."""
    return replaced(text, dict.fromkeys(places, ""))


def replaced(text: str, texts: Mapping[Span, str]) -> str:
    """Return the text with other texts at these places."""
    parts, at = [], 0
    for place in sorted(texts):
        parts += [text[at : place.start], texts[place]]
        at = place.end
    joined = "".join((*parts, text[at:]))
    if all(texts.values()):
        return joined
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"(?<=\S) {2,}", " ", joined)).strip()


def _sentences(text: str) -> Iterator[Span]:
    start = 0
    for end in [*(match.end() for match in _ENDS.finditer(text)), len(text)]:
        part = text[start:end]
        if stripped := part.strip():
            begin = start + part.index(stripped[0])
            yield Span(begin, begin + len(stripped))
        start = end


def _folded(text: str) -> tuple[str, list[int]]:
    """Return the text with single spaces, in lower case, and the place of each character."""
    folded: list[tuple[str, int]] = []
    for place, character in enumerate(text.translate(_PLAIN)):
        if not character.isspace():
            folded += [(each, place) for each in character.casefold()]
        elif folded and folded[-1][0] != " ":
            folded.append((" ", place))
    return "".join(each for each, _ in folded), [place for _, place in folded]


_PLAIN: Final = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"'})
