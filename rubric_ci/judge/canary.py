"""A criterion that no answer meets: a judge that says otherwise was steered, or does not read."""

import hashlib
from collections.abc import Sequence

from rubric_ci.errors import CannotJudge
from rubric_ci.model.diagnostics import Span
from rubric_ci.model.rubric import Check, Criterion, Judgement

CANARY_ID = " canary"  # no criterion of a file can have an id that starts with a blank

_NOWHERE = Span(1, 1, 1, 1)
_LETTERS = "bcdfghjklmnpqrst"  # sixteen, no vowels: never a word that means something


def with_canary(criteria: Sequence[Criterion], answer: str) -> tuple[Criterion, ...]:
    """Put a canary among the criteria; the same answer always gets the same one.

    It asks for a word that is not in the answer, at a place that the answer cannot foresee.
    """
    word = _word(answer)
    text = f'Contains the word "{word}"'
    canary = Check(id=CANARY_ID, text=text, weight=0, required=False, span=_NOWHERE)
    place = _digest(answer, "place")[0] % (len(criteria) + 1)
    return (*criteria[:place], canary, *criteria[place:])


def without_canary(judgement: Judgement) -> Judgement:
    """Return the other marks; raises CannotJudge where the canary is satisfied."""
    canary = judgement[CANARY_ID]
    if canary.value is True:
        raise CannotJudge(
            "the judge is not to be trusted on this answer: it found a word that is not there "
            f"(canary criterion; its reason: {canary.reasoning or 'none'})"
        )
    marks = {name: mark for name, mark in judgement.marks.items() if name != CANARY_ID}
    return Judgement(marks, judgement.reasoning)


def _word(answer: str) -> str:
    known = answer.casefold()
    turn = 0
    while (word := _spell(_digest(answer, f"word {turn}"))) in known:
        turn += 1
    return word


def _spell(digest: bytes) -> str:
    return "".join(_LETTERS[byte % len(_LETTERS)] for byte in digest[:8])


def _digest(answer: str, purpose: str) -> bytes:
    text = f"{purpose}\n{answer}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
