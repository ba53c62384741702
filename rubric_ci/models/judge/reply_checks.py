"""Checks of a judge's reply: the canary, and quotes that are in the answer.

The canary is a criterion that no answer meets, to detect a judge that was manipulated. White space
and Unicode forms of quotes are ignored.
"""

import hashlib
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace

from rubric_ci.errors import CannotJudge
from rubric_ci.models.judge.prompt import escaped
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.rubric import Check, Judged, Judgement
from rubric_ci.values.trace import SeenPart

CANARY_ID = " canary"  # no criterion of a file can have an id that starts with a space

_NOWHERE = Span(1, 1, 1, 1)
_CONSONANTS, _VOWELS = "bcdfghjklmnpqrst", "aeiou"
_SYLLABLES = 4
_SENTENCES = (
    'Contains the word "{}"',
    'Mentions "{}" at least once',
    "Uses the term {} correctly",
    'Names "{}" as one of its examples',
    "Refers to {} by name",
    'Says what "{}" means',
    "Recommends {} or warns against it",
    "Gives {} as a source",
    'Explains how "{}" is related to the question',
    "Ends with a sentence about {}",
    'Begins by introducing "{}"',
    "Compares {} with an alternative",
)

_QUOTES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"'})


def with_canary(criteria: Sequence[Judged], answer: str) -> tuple[Judged, ...]:
    """Insert a canary without its sentence; the position depends on the answer only.

    A cached or recorded reply names criteria by position, so it cannot be new in each request.
    """
    canary = Check(id=CANARY_ID, text=CANARY_ID, weight=0, required=False, span=_NOWHERE)
    place = _digest(answer.encode("utf-8", "surrogatepass"), "place")[0] % (len(criteria) + 1)
    return (*criteria[:place], canary, *criteria[place:])


def with_sentence(criteria: Sequence[Judged], answer: str, seed: bytes) -> tuple[Judged, ...]:
    """Return the criteria with a sentence for the canary; it is about a word not in the answer.

    `seed` is random and new in each request, so that no answer can name the canary in advance.
    """
    form = _SENTENCES[_digest(seed, "sentence")[0] % len(_SENTENCES)]
    return tuple(
        replace(each, text=form.format(_word(answer, seed)))
        if isinstance(each, Check) and each.id == CANARY_ID
        else each
        for each in criteria
    )


def without_canary(judgement: Judgement) -> Judgement:
    """Return the judgement without the canary; raises CannotJudge if the canary is satisfied."""
    canary = judgement[CANARY_ID]
    if canary.value is True:
        raise CannotJudge(
            "judge failed the canary check: it reported a word that is not in the answer "
            f"(its reasoning: {canary.reasoning or 'none'})"
        )
    marks = {name: mark for name, mark in judgement.marks.items() if name != CANARY_ID}
    return Judgement(marks, judgement.reasoning)


def _word(answer: str, seed: bytes) -> str:
    known = answer.casefold()
    attempt = 0
    while (word := _spell(_digest(seed, f"word {attempt}"))) in known:
        attempt += 1
    return word


def _spell(digest: bytes) -> str:
    pairs = zip(digest[:_SYLLABLES], digest[_SYLLABLES:], strict=False)
    return "".join(
        _CONSONANTS[first % len(_CONSONANTS)] + _VOWELS[second % len(_VOWELS)]
        for first, second in pairs
    )


def _digest(source: bytes, purpose: str) -> bytes:
    return hashlib.sha256(purpose.encode() + b"\n" + source).digest()


def missing_quotes(
    judgement: Judgement, criteria: Sequence[Judged], answer: str
) -> tuple[str, ...]:
    """Return a message per quote that is not in the answer; an empty quote is accepted."""
    found = sources(judgement, criteria, {"answer": answer})
    return tuple(
        f'the evidence for {c.id} is not in the answer: "{_short(judgement[c.id].evidence)}"'
        for c in criteria
        if judgement[c.id].evidence and c.id not in found
    )


def sources(
    judgement: Judgement, criteria: Sequence[Judged], parts: Mapping[SeenPart, str]
) -> dict[str, SeenPart]:
    """Return the first part that has the quote, by criterion id; other criteria are left out."""
    quotes = {c.id: _folded(quote) for c in criteria if (quote := judgement[c.id].evidence)}
    if not quotes:
        return {}
    shown = {  # the judge saw it escaped
        part: {_folded(text), _folded(escaped(text))} for part, text in parts.items()
    }
    return {
        name: places[0]
        for name, quote in quotes.items()
        if (
            places := [
                p for p, texts in shown.items() if any(_is_quoted_in(quote, t) for t in texts)
            ]
        )
    }


def _is_quoted_in(quote: str, answer: str) -> bool:
    # A quote may leave out text, "so ... it is": find each piece, in this order.
    position = 0
    for piece in re.split(r"(?:\.\s?){3,}", quote):
        found = answer.find(piece.strip(" \"'"), position)
        if found < 0:
            return False
        position = found
    return True


def _folded(text: str) -> str:
    if not text.isascii():
        plain = unicodedata.normalize("NFKC", text).translate(_QUOTES)
        text = "".join(c for c in plain if unicodedata.category(c) != "Cf")
    return " ".join(text.split()).casefold()


def _short(quote: str) -> str:
    line = " ".join(quote.split())
    return line if len(line) <= 80 else f"{line[:77]}..."
