"""The canary: a criterion that no answer meets, to detect a judge that was manipulated."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from rubric_ci.errors import CannotJudge
from rubric_ci.model.diagnostics import Span
from rubric_ci.model.rubric import Check, Judged, Judgement

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
    return tuple(
        replace(each, text=_sentence(answer, seed))
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


def _sentence(answer: str, seed: bytes) -> str:
    form = _SENTENCES[_digest(seed, "sentence")[0] % len(_SENTENCES)]
    return form.format(_word(answer, seed))


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
