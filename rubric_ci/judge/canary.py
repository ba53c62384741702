"""The canary: a criterion that no answer meets, to detect a judge that was manipulated."""

import hashlib
from collections.abc import Sequence

from rubric_ci.errors import CannotJudge
from rubric_ci.model.diagnostics import Span
from rubric_ci.model.rubric import Check, Criterion, Judgement

CANARY_ID = " canary"  # no criterion of a file can have an id that starts with a space

_NOWHERE = Span(1, 1, 1, 1)
_LETTERS = "bcdfghjklmnpqrst"  # sixteen, no vowels: never a real word


def with_canary(criteria: Sequence[Criterion], answer: str) -> tuple[Criterion, ...]:
    """Insert a canary into the criteria; it depends on the answer only.

    It requires a word that is not in the answer, at a position that the answer cannot predict.
    """
    word = _word(answer)
    text = f'Contains the word "{word}"'
    canary = Check(id=CANARY_ID, text=text, weight=0, required=False, span=_NOWHERE)
    place = _digest(answer, "place")[0] % (len(criteria) + 1)
    return (*criteria[:place], canary, *criteria[place:])


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


def _word(answer: str) -> str:
    known = answer.casefold()
    attempt = 0
    while (word := _spell(_digest(answer, f"word {attempt}"))) in known:
        attempt += 1
    return word


def _spell(digest: bytes) -> str:
    return "".join(_LETTERS[byte % len(_LETTERS)] for byte in digest[:8])


def _digest(answer: str, purpose: str) -> bytes:
    text = f"{purpose}\n{answer}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
