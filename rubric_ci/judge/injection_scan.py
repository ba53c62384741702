"""What in an answer looks meant for the judge, or like no answer at all; a warning, never a mark.

A heuristic over the text alone: it finds careless attacks and tells a person where to look.
What it misses is why the answer is fenced, and what it finds may be innocent.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rubric_ci.judge import injection_patterns

QUOTE_LENGTH = 60
REPEATS = 5
ECHOES = 2  # one may be a fact that the answer has to state


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectionWarning:
    """One finding: its rule, what it means, and the words that raised it."""

    rule: str
    message: str
    quote: str = ""

    def __str__(self) -> str:
        """Return the finding in one line, as reports show it."""
        return f"{self.rule}: {self.message}" + (f": {self.quote!r}" if self.quote else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class _ScannedAnswer:
    answer: str
    folded: str  # lower case, compatibility forms resolved, invisible characters gone
    question: str
    criteria: Sequence[str]


_Rule: TypeAlias = Callable[[_ScannedAnswer], Iterator[InjectionWarning]]


def scan_for_injection(
    answer: str, *, question: str, criteria: Sequence[str]
) -> tuple[InjectionWarning, ...]:
    """Scan one answer; at most one finding of each rule."""
    seen = _ScannedAnswer(answer=answer, folded=_fold(answer), question=question, criteria=criteria)
    return tuple(found for rule in _RULES if (found := next(rule(seen), None)))


def _orders(seen: _ScannedAnswer) -> Iterator[InjectionWarning]:
    message = "the answer gives the judge an order"
    yield from _matches(injection_patterns.ORDER, seen.folded, "orders-the-judge", message)


def _roles(seen: _ScannedAnswer) -> Iterator[InjectionWarning]:
    message = "the answer speaks in another role's name"
    yield from _matches(injection_patterns.ROLE, seen.folded, "plays-a-role", message)


def _fences(seen: _ScannedAnswer) -> Iterator[InjectionWarning]:
    message = "the answer pretends to end here"
    yield from _matches(injection_patterns.FENCE, seen.folded, "forges-a-fence", message)


def _replies(seen: _ScannedAnswer) -> Iterator[InjectionWarning]:
    message = "the answer holds a judge's reply"
    yield from _matches(injection_patterns.REPLY, seen.folded, "forges-a-reply", message)


def _claims(seen: _ScannedAnswer) -> Iterator[InjectionWarning]:
    message = "the answer marks itself"
    yield from _matches(injection_patterns.CLAIM, seen.folded, "marks-itself", message)


def _invisible(seen: _ScannedAnswer) -> Iterator[InjectionWarning]:
    if seen.answer.isascii():
        return
    hidden = [c for c in _ORDINARY_JOINERS.sub("", seen.answer) if _is_invisible(c)]
    struck = len(re.findall("[\u0300-\u036f]", unicodedata.normalize("NFC", seen.answer)))
    if hidden:
        names = ", ".join(f"U+{ord(c):04X}" for c in sorted(set(hidden))[:3])
        message = f"{len(hidden)} characters of the answer are invisible"
        yield InjectionWarning(rule="hides-characters", message=message, quote=names)
    elif struck * 4 > len(seen.answer):
        yield InjectionWarning(rule="hides-characters", message="the answer is written over")


def _alphabets(seen: _ScannedAnswer) -> Iterator[InjectionWarning]:
    if seen.answer.isascii():
        return
    for each in _WORD.findall(seen.answer):
        if each.isascii():
            continue
        scripts = {unicodedata.name(c, "?").split()[0] for c in each}
        if "LATIN" in scripts and scripts & {"CYRILLIC", "GREEK"}:
            message = "a word mixes alphabets that look alike"
            yield InjectionWarning(rule="mixes-alphabets", message=message, quote=each)


def _nothing(seen: _ScannedAnswer) -> Iterator[InjectionWarning]:
    said = _bare(seen.folded)
    if not said:
        yield InjectionWarning(
            rule="says-nothing", message="the answer has no words", quote=seen.answer
        )
    elif injection_patterns.OPENING.fullmatch(said):
        message = "the answer only announces one"
        yield InjectionWarning(rule="says-nothing", message=message, quote=_shorten(seen.answer))


def _echoes(seen: _ScannedAnswer) -> Iterator[InjectionWarning]:
    own = _bare(seen.folded)
    if own and own == _bare(_fold(seen.question)):
        yield InjectionWarning(rule="echoes", message="the answer repeats the question")
        return
    echoed = [text for text in seen.criteria if _bare(_fold(text)) in own and " " in text]
    if len(echoed) >= ECHOES:
        message = f"the answer repeats {len(echoed)} criteria word for word"
        yield InjectionWarning(rule="echoes", message=message, quote=_shorten(echoed[0]))


def _repeats(seen: _ScannedAnswer) -> Iterator[InjectionWarning]:
    lines = Counter(line.strip() for line in seen.folded.splitlines() if _WORD.search(line))
    line, times = max(lines.items(), key=lambda item: item[1], default=("", 0))
    if times >= REPEATS and times * 2 > lines.total():
        message = f"one line makes up {times} of {lines.total()} lines"
        yield InjectionWarning(rule="repeats-itself", message=message, quote=_shorten(line))


_RULES: tuple[_Rule, ...] = (
    _nothing,
    _echoes,
    _orders,
    _roles,
    _fences,
    _replies,
    _claims,
    _invisible,
    _alphabets,
    _repeats,
)

_WORD = re.compile(r"\w{2,}")
_ORDINARY_JOINERS = re.compile(
    "(?<=[^\\x00-\\x7f])[\\u200c-\\u200f\\ufe0f]|^\\ufeff"  # scripts and emoji that need them
    "|\\U0001f3f4[\\U000e0020-\\U000e007f]{1,7}"  # flags of regions
)


def _matches(
    pattern: re.Pattern[str], text: str, rule: str, message: str
) -> Iterator[InjectionWarning]:
    for match in pattern.finditer(text):
        yield InjectionWarning(rule=rule, message=message, quote=_shorten(match[0]))


def _fold(text: str) -> str:
    if text.isascii():  # most are, and the rest costs a look at each character
        return text.casefold()
    plain = unicodedata.normalize("NFKD", "".join(c for c in text if not _is_invisible(c)))
    return "".join(c for c in plain if unicodedata.category(c) != "Mn").casefold()


def _is_invisible(character: str) -> bool:
    """Tell whether a character is a format character, such as a zero-width or a bidi one."""
    return unicodedata.category(character) == "Cf" and character != "\N{SOFT HYPHEN}"


def _bare(text: str) -> str:
    return " ".join(re.findall(r"\w+", text))


def _shorten(text: str) -> str:
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= QUOTE_LENGTH else one_line[: QUOTE_LENGTH - 1] + "…"
