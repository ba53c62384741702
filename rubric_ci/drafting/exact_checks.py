"""Assertions for sentences of an expected outcome that say exactly one; no model is asked."""

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from rubric_ci.drafting.reply import Draft, validated

_SENTENCE: Final = re.compile(r"(?<=[.;!?])\s+|\n")
_SUBJECT: Final = r"(?:the (?:answer|reply|response|output) |it )?(?:must |should |has to )?"
_TEXT: Final = r"(?:the (?:text|word|words|phrase|string) )?(?:`([^`]+)`|\"([^\"]+)\"|“([^“”]+)”)"

_Reader = Callable[[re.Match[str]], dict[str, Any]]


def _contains(found: re.Match[str], *, inverted: bool = False) -> dict[str, Any]:
    text = next(group for group in found.groups() if group)
    return {"contains": text, **({"not": True} if inverted else {})}


_FORMS: Final[tuple[tuple[re.Pattern[str], _Reader], ...]] = (
    (
        re.compile(rf"{_SUBJECT}(?:contains?|includes?) {_TEXT}", re.IGNORECASE),
        _contains,
    ),
    (
        re.compile(
            rf"{_SUBJECT}(?:not|does not|do not|never) (?:contains?|includes?) {_TEXT}",
            re.IGNORECASE,
        ),
        lambda found: _contains(found, inverted=True),
    ),
    (
        re.compile(rf"{_SUBJECT}(?:is|be) (?:valid )?JSON", re.IGNORECASE),
        lambda _: {"is_json": True},
    ),
    (
        re.compile(
            rf"{_SUBJECT}(?:has |have |is |be |uses? )?(?:at most|no more than) (\d+) words",
            re.IGNORECASE,
        ),
        lambda found: {"max_words": int(found[1])},
    ),
    (
        re.compile(
            rf"{_SUBJECT}(?:has |have |is |be |uses? )?(?:at least|no fewer than) (\d+) words",
            re.IGNORECASE,
        ),
        lambda found: {"min_words": int(found[1])},
    ),
)


def checks_of(outcome: str) -> Iterator[dict[str, Any]]:
    """Yield an assertion for each sentence that is one of these forms and nothing else."""
    for sentence in _SENTENCE.split(outcome):
        text = sentence.strip().rstrip(".;!").strip()
        for form, read in _FORMS:
            if found := form.fullmatch(text):
                yield {"expected_outcome": text, **read(found)}


def with_checks(draft: Draft, outcome: str) -> Draft:
    """Return a draft that begins with the assertions of the expected outcome."""
    checks = [{"id": f"exact-{n}", **each} for n, each in enumerate(checks_of(outcome), 1)]
    found = validated([*checks, *draft.rubrics]) if checks else draft
    return found if isinstance(found, Draft) else draft
