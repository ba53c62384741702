"""Variants of an answer that say the same in another form, so that no mark may change.

Each family is one row of a table; it names the words of criteria that may rightly mind it.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Final
from zlib import crc32

from rubric_ci.parts.lab.quote_variants import Span, Variant, replaced, sentences
from rubric_ci.values.dataclass import dataclass
from rubric_ci.values.json_value import parsed


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A family of variants that must not matter."""

    make: Callable[[str, int], str | None]  # None: it does not apply
    about: tuple[str, ...]  # beginnings of words: a criterion with one may rightly mind


def harmless(answer: str, seed: str) -> tuple[Variant, ...]:
    """Return the variants of an answer that must change no mark."""
    chance = crc32(seed.encode())
    forms = JSON_FORMS if isinstance(parsed(answer), dict | list) else FORMS
    made = ((family, form.make(answer, chance)) for family, form in forms.items())
    return tuple(
        Variant(family=family, text=text, change=family.replace("-", " "))
        for family, text in made
        if text is not None and text != answer
    )


def minds(family: str, criterion: str) -> bool:
    """Return True if a criterion speaks of the form that a family changes."""
    words = re.findall(r"\w+", criterion.casefold())
    return any(word.startswith({**FORMS, **JSON_FORMS}[family].about) for word in words)


def _spaces(answer: str, _: int) -> str | None:
    if "```" in answer or "    " in answer:
        return None
    return re.sub(r"\n{2,}", "\n\n\n", re.sub(r"(?<=[.!?]) (?=\S)", "  ", answer)) + "\n"


def _markdown(answer: str, _: int) -> str | None:
    if "```" in answer:
        return None
    plain = re.sub(r"(\*\*|__)(?=\S)(.{1,200}?)(?<=\S)\1", r"\2", answer)
    if plain != answer:
        return plain
    first = sentences(answer)
    return None if not first else replaced(answer, {first[0]: f"**{first[0].of(answer)}**"})


def _case(answer: str, _: int) -> str | None:
    if "```" in answer:
        return None
    starts = {Span(s.start, s.start + 1): answer[s.start].lower() for s in sentences(answer)}
    return replaced(answer, starts) if starts else None


def _greeting(answer: str, chance: int) -> str | None:
    return f"{_GREETINGS[chance % len(_GREETINGS)]}\n\n{answer}"


def _lists(answer: str, _: int) -> str | None:
    """Rotate the longest run of unordered items by one."""
    runs = list(re.finditer(r"(?:^[-*] .*(?:\n|\Z)){2,}", answer, re.MULTILINE))
    if not runs:
        return None
    run = max(runs, key=lambda match: match.end() - match.start())
    items = run.group().splitlines()
    text = "\n".join((*items[1:], items[0])) + ("\n" if run.group().endswith("\n") else "")
    return answer[: run.start()] + text + answer[run.end() :]


def _json_layout(answer: str, _: int) -> str | None:
    data = json.loads(answer)
    indented = json.dumps(data, ensure_ascii=False, indent=2)
    return indented if indented != answer else json.dumps(data, ensure_ascii=False)


def _json_order(answer: str, _: int) -> str | None:
    data = json.loads(answer)
    if not isinstance(data, dict) or len(data) < 2:
        return None
    return json.dumps(dict(reversed(data.items())), ensure_ascii=False)


_GREETINGS: Final = ("Hello!", "Good afternoon,", "Hi there,")
_LAYOUT: Final = ("format", "layout", "space", "line", "paragraph", "json", "indent", "structure")
_GREETED: Final = (
    "greet salut polite tone friendl formal begin start open first only nothing short brief "
    "concise word sentence length exact"
)
FORMS: Final[Mapping[str, Form]] = {
    "white-space": Form(make=_spaces, about=_LAYOUT),
    "markdown": Form(
        make=_markdown, about=(*_LAYOUT, "markdown", "bold", "emphasi", "plain", "heading")
    ),
    "letter-case": Form(
        make=_case, about=("case", "capital", "spell", "grammar", "punctuat", "style", "formal")
    ),
    "greeting": Form(make=_greeting, about=tuple(_GREETED.split())),
    "list-order": Form(
        make=_lists,
        about=("order", "first", "sequence", "rank", "sort", "priorit", "step", "before"),
    ),
}
"""Families that no criterion must mind."""

JSON_FORMS: Final[Mapping[str, Form]] = {
    "white-space": Form(make=_json_layout, about=_LAYOUT),
    "key-order": Form(make=_json_order, about=("order", "first", "sequence", "sort")),
}
"""The same for answers in JSON, whose texts are data."""
