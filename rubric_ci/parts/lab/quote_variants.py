"""Variants of an answer that take away, or turn round, the text that a criterion quotes.

They are made by rules, without a model. Each family is one row of a table.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Final, TypeAlias

from rubric_ci.text import quotes
from rubric_ci.values.answers import identity, kept
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.results import Answer

_ENDS: Final = re.compile(r"[.!?](?=\s)|\n")
# Characters; a longer one is the whole answer rather than a place in it.
LONGEST_QUOTE: Final = 2000


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """The characters `start` up to `end` of an answer."""

    start: int
    end: int

    def of(self, text: str) -> str:
        return text[self.start : self.end]

    def overlaps(self, other: "Span") -> bool:
        return self.start < other.end and other.start < self.end


def sentences(text: str) -> tuple[Span, ...]:
    """Return the sentences and lines of a text, without the white space around them."""
    found: list[Span] = []
    start = 0
    for end in [*(match.end() for match in _ENDS.finditer(text)), len(text)]:
        part = text[start:end]
        if stripped := part.strip():
            begin = start + part.index(stripped[0])
            found.append(Span(begin, begin + len(stripped)))
        start = end
    return tuple(found)


def locate(quote: str, answer: str) -> tuple[Span, ...]:
    """Return the places of a quote and of its pieces; empty: the answer does not have each."""
    return tuple(Span(*place) for place in quotes.pieces(answer, quote[:LONGEST_QUOTE]))


def around(places: tuple[Span, ...], text: str) -> tuple[Span, ...]:
    """Return the sentences that these places are in."""
    return tuple(each for each in sentences(text) if any(map(each.overlaps, places)))


def without(text: str, places: tuple[Span, ...]) -> str:
    """Return the text without these places and without the gaps that they leave."""
    return replaced(text, dict.fromkeys(places, ""))


def replaced(text: str, texts: Mapping[Span, str]) -> str:
    parts, at = [], 0
    for place in sorted(texts):
        parts += [text[at : place.start], texts[place]]
        at = place.end
    joined = "".join((*parts, text[at:]))
    if all(texts.values()):
        return joined
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"(?<=\S) {2,}", " ", joined)).strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """The evidence of a criterion in an answer, and the texts that say what matters."""

    answer: str
    text: str  # the quote, as the judge wrote it
    places: tuple[Span, ...]  # not empty
    wanted: str = ""  # criterion, expected outcome and reference: a fact in it must be right


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A changed answer, or an answer with changed work."""

    family: str
    text: str
    change: str  # in words, for people
    did: Answer | None = None  # with the changed work; None: the work is as it was

    @property
    def key(self) -> str:
        return self.text if self.did is None else identity(kept(self.did))

    def of(self, answer: Answer) -> Answer:
        return self.did or replace(answer, text=self.text)


Notice: TypeAlias = Callable[[Quote], Iterator[tuple[str, str]]]
"""The changed answers, each with the change in words."""


def noticeable(quote: Quote) -> tuple[Variant, ...]:
    """Return the variants that the criterion of a quote must notice, one of each text."""
    found: dict[str, Variant] = {}
    for family, make in NOTICED.items():
        for text, change in make(quote):
            if text != quote.answer and (family in _KEEPS_QUOTE or not locate(quote.text, text)):
                found.setdefault(text, Variant(family=family, text=text, change=change))
    return tuple(found.values())


def forbidden(criterion: str) -> str | None:
    """Return a sentence that a criterion forbids; empty: no rule makes it; None: it is a demand."""
    found = _FORBIDS.match(criterion.strip())
    if found is None:
        return None
    if quoted := _QUOTED.search(criterion):
        text = quoted.group(1).strip()
        return text if text[-1:] in ".!?" else f"{text}."
    verb, rest = found.group("verb").casefold(), found.group("rest").strip()
    if verb in _SAYS and rest.casefold().startswith("that "):
        return f"{rest[5:6].upper()}{rest[6:]}."
    if verb.endswith("ing"):
        return f"We are {verb} {rest}."
    if verb in _SAYS:
        return f"We also want to mention {rest}."
    return f"We {verb} {rest}." if verb in _DOES else ""


def planted(answer: str, sentence: str) -> tuple[Variant, ...]:
    """Return the answer with a sentence before, in and after it."""
    first, *_, last = (0, *(each.end for each in sentences(answer)), len(answer))
    middle = next(iter(sentences(answer)), Span(0, last)).end
    texts = dict.fromkeys(
        f"{answer[:at].rstrip()} {sentence} {answer[at:].lstrip()}".strip()
        for at in (last, first, middle)
    )
    change = f"with {_quoted_line(sentence)}"
    return tuple(Variant(family=PLANTED, text=text, change=change) for text in texts)


def _quote_deleted(quote: Quote) -> Iterator[tuple[str, str]]:
    yield (
        without(quote.answer, quote.places),
        f"without {_quoted_line(quote.places[0].of(quote.answer))}",
    )


def _sentence_dropped(quote: Quote) -> Iterator[tuple[str, str]]:
    whole = around(quote.places, quote.answer)
    yield without(quote.answer, whole), f"without {_quoted_line(whole[0].of(quote.answer))}"


def _other_words(quote: Quote) -> Iterator[tuple[str, str]]:
    whole = around(quote.places, quote.answer)
    texts = {each: _filler(each.end - each.start) for each in whole}
    change = f"other words in place of {_quoted_line(whole[0].of(quote.answer))}"
    yield replaced(quote.answer, texts), change


def _negated(quote: Quote) -> Iterator[tuple[str, str]]:
    whole = around(quote.places, quote.answer)
    texts = {each: _turned(each.of(quote.answer)) for each in whole}
    yield replaced(quote.answer, texts), _quoted_line(texts[whole[0]])


def _turned(sentence: str) -> str:
    """Return the sentence with its first verb negated, or without its negation."""
    found = _AUXILIARY.search(sentence)
    if found is None:
        return f"It is not true that {sentence[:1].lower()}{sentence[1:]}"
    word = found.group("negated") or found.group("plain")
    if found.group("negated"):
        plain = _POSITIVE.get(word.casefold()) or word[:-3].rstrip()  # "not" or "n't"
        return sentence[: found.start()] + plain + sentence[found.end() :]
    return f"{sentence[: found.end()]} not{sentence[found.end() :]}"


def _numbers(quote: Quote) -> Iterator[tuple[str, str]]:
    for step in (1, 4, 7):
        yield from _facts(quote, _NUMBER, partial(_other_number, step=step))


def _words(quote: Quote) -> Iterator[tuple[str, str]]:
    yield from _facts(quote, _FACT_WORD, lambda word: _FACTS[word.casefold()])


def _names(quote: Quote) -> Iterator[tuple[str, str]]:
    free = next(name for name in _NAMES if name not in quote.answer)
    yield from _facts(quote, _NAME, lambda _: free)


def _facts(
    quote: Quote, pattern: re.Pattern[str], other: Callable[[str], str]
) -> Iterator[tuple[str, str]]:
    """Change the facts of a quote that the case's own texts have too."""
    wanted = {word.casefold() for word in _WORD.findall(quote.wanted)}
    texts: dict[Span, str] = {}
    for place in quote.places:
        for match in pattern.finditer(quote.answer, place.start, place.end):
            if match.group().casefold() in wanted:
                texts[Span(*match.span())] = other(match.group())
    if texts:
        first = next(iter(texts))
        change = f"{_quoted_line(first.of(quote.answer))} became {_quoted_line(texts[first])}"
        yield replaced(quote.answer, texts), change


def _other_number(number: str, step: int) -> str:
    """Return the number with another first digit that is not 0: as long, and in the same form."""
    digit = next((n for n, c in enumerate(number) if c in "123456789"), 0)
    other = (int(number[digit]) - 1 + step) % 9 + 1
    return f"{number[:digit]}{other}{number[digit + 1 :]}"


def _cut(quote: Quote) -> Iterator[tuple[str, str]]:
    start = around(quote.places, quote.answer)[0].start
    if text := quote.answer[:start].rstrip():
        yield text, f"ends after {_quoted_line(text[-60:])}"


def _decision(quote: Quote) -> Iterator[tuple[str, str]]:
    first = sentences(quote.answer)[0]
    if len(sentences(quote.answer)) > 1:
        yield first.of(quote.answer), f"only {_quoted_line(first.of(quote.answer))}"


def _blank(_: Quote) -> Iterator[tuple[str, str]]:
    yield "", "an empty answer"


def _filler(length: int) -> str:
    text = _FILLER * (length // len(_FILLER) + 1)
    return f"{text[: max(0, length - 1)].rstrip()}."


def _quoted_line(text: str) -> str:
    line = " ".join(text.split())
    return f"“{line if len(line) <= 60 else f'{line[:59]}…'}”"


_AUX: Final = "is|are|was|were|can|could|will|would|must|should|does|do|did|has|have|may|might|am"
_AUXILIARY: Final = re.compile(
    rf"(?<!\w)(?:(?P<negated>cannot|won['\u2019]t|can['\u2019]t|(?:{_AUX})(?:\s+not\b|n['\u2019]t))"
    rf"|(?P<plain>{_AUX}))(?!\w)",
    re.IGNORECASE,
)
_POSITIVE: Final = {
    **dict.fromkeys(("cannot", "can't", "can\u2019t"), "can"),
    **dict.fromkeys(("won't", "won\u2019t"), "will"),
}
_NUMBER: Final = re.compile(r"(?<![\w.])\d+(?:[.,:/-]\d+)*(?!\w)")
_WORD: Final = re.compile(r"\w+(?:[.,:/-]\d+)*")
_NAME: Final = re.compile(r"(?<=[a-z,;:] )[A-Z][a-z]{2,}(?!\w)")
_NAMES: Final = ("Brandt", "Okafor", "Lindqvist", "Marlow", "Tanaka", "Ferreira")
_CYCLES: Final = (
    ("one", "four", "two", "five", "three", "six", "seven", "nine", "eight", "ten", "twelve"),
    ("Monday", "Thursday", "Tuesday", "Friday", "Wednesday", "Saturday", "Sunday"),
    ("January", "April", "February", "May", "March", "June"),
    ("July", "October", "August", "November", "September", "December"),
    ("minutes", "hours", "days", "weeks", "months", "years"),
    ("minute", "hour", "day", "week", "month", "year"),
    ("euros", "dollars", "pounds"),
    ("EUR", "USD", "GBP"),
    ("grams", "kilograms", "tonnes"),
    ("metres", "kilometres", "miles"),
)
_FACTS: Final = {
    word.casefold(): cycle[(n + 1) % len(cycle)]
    for cycle in _CYCLES
    for n, word in enumerate(cycle)
}
_FACT_WORD: Final = re.compile(rf"\b(?:{'|'.join(_FACTS)})\b", re.IGNORECASE)
_FILLER: Final = "the remaining part of this reply deals with another matter and adds nothing here "
NOTICED: Final[Mapping[str, Notice]] = {
    "quote-deleted": _quote_deleted,
    "number-changed": _numbers,
    "negated": _negated,
    "replaced": _other_words,
    "name-changed": _names,
    "unit-changed": _words,
    "cut-short": _cut,
    "sentence-dropped": _sentence_dropped,
    "unsupported": _decision,
    "blank": _blank,
}
"""Families that a criterion must notice, the most telling ones first."""

_FORBIDS: Final = re.compile(
    r"(?:(?:does|do|must|should|may) not|(?:doesn|don)['\u2019]t|never|avoids?) "
    r"(?:\w{2,20}ly )?(?P<verb>\w{2,30}) (?P<rest>[^.;]{2,300})",
    re.IGNORECASE,
)
_QUOTED: Final = re.compile(r"[\"\u201c`]([^\"\u201c\u201d`]{2,200})[\"\u201d`]")
_SAYS: Final = frozenset(
    ("claim", "claims", "mention", "mentions", "name", "names", "refer", "say", "says", "state")
)
_DOES: Final = frozenset(
    ("ask", "demand", "give", "guarantee", "offer", "promise", "recommend", "request", "tell")
)
PLANTED: Final = "planted"
"""The answer with a text that a criterion forbids."""

OTHER_ANSWER: Final = "other-answer"
"""The answer of another case; made where the answers of all cases are known."""

_KEEPS_QUOTE: Final = frozenset({"negated"})  # the words of a quote may stay, their meaning not
