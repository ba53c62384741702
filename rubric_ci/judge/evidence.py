"""Check that a judge's quotes are in the answer; white space and Unicode forms are ignored."""

import re
import unicodedata
from collections.abc import Mapping, Sequence

from rubric_ci.judge.fence import escaped
from rubric_ci.judge.reply_parser import InvalidReply
from rubric_ci.model.rubric import Judged, Judgement
from rubric_ci.model.trace import SeenPart

_QUOTES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"'})


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
    places = {
        name: [
            part
            for part, texts in shown.items()
            if any(_is_quoted_in(quote, text) for text in texts)
        ]
        for name, quote in quotes.items()
    }
    return {name: found[0] for name, found in places.items() if found}


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
