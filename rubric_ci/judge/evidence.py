"""Check that a judge's quotes are in the answer; white space and Unicode forms are ignored."""

import re
import unicodedata
from collections.abc import Sequence

from rubric_ci.judge.fence import escaped
from rubric_ci.judge.reply_parser import InvalidReply
from rubric_ci.model.rubric import Judged, Judgement

_QUOTES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"'})


def missing_quotes(
    judgement: Judgement, criteria: Sequence[Judged], answer: str
) -> tuple[str, ...]:
    """Return a message per quote that is not in the answer; an empty quote is accepted."""
    quotes = {c.id: quote for c in criteria if (quote := judgement[c.id].evidence)}
    if not quotes:
        return ()
    shown = escaped(answer)  # the judge saw it so
    answers = {_folded(text) for text in (answer, shown)}
    return tuple(
        f'the evidence for {name} is not in the answer: "{_short(quote)}"'
        for name, quote in quotes.items()
        if not any(_is_quoted_in(_folded(quote), text) for text in answers)
    )


def with_quotes(
    judgement: Judgement | InvalidReply, criteria: Sequence[Judged], answer: str
) -> Judgement | InvalidReply:
    """Return the judgement, or InvalidReply if a quote is not in the answer."""
    if isinstance(judgement, InvalidReply):
        return judgement
    problems = missing_quotes(judgement, criteria, answer)
    return InvalidReply(problems) if problems else judgement


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
