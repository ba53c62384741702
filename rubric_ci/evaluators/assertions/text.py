"""Assertions about the text itself: substrings, both ends, equality, patterns, number of words."""

import json
from collections.abc import Callable, Sequence
from functools import cache, partial
from operator import ge, le
from typing import Any, Final

from rubric_ci.evaluators.assertions.json_data import NotJson, parsed, unfenced
from rubric_ci.evaluators.assertions.row import (
    TEXT,
    TEXTS,
    Check,
    Outcome,
    Row,
    line_of,
    listed,
    quoted_value,
)
from rubric_ci.text.numbers import plural
from rubric_ci.values.json_value import JSON, equal, with_texts

_NOT_FOUND: Final = Outcome(holds=False, found="it does not occur")


def _contains(text: str, value: str, ignore_case: bool) -> Outcome:
    return _any_of(text, [value], ignore_case)


def _contains_any(text: str, values: Sequence[str], ignore_case: bool) -> Outcome:
    found = _any_of(text, values, ignore_case)
    return found if found.holds else Outcome(holds=False, found="none of them occurs")


def _any_of(text: str, values: Sequence[str], ignore_case: bool) -> Outcome:
    found = (_found(text, value, ignore_case) for value in values)
    return next((_at(text, *each) for each in found if each), _NOT_FOUND)


def _contains_all(text: str, values: Sequence[str], ignore_case: bool) -> Outcome:
    pieces = {value: _found(text, value, ignore_case) for value in values}
    if missing := [value for value, piece in pieces.items() if piece is None]:
        return Outcome(holds=False, found=f"without {listed(missing)}")
    evidence = " ... ".join(piece for _, piece in filter(None, pieces.values()))
    return Outcome(holds=True, found="all of them occur", evidence=evidence)


def _stripped(check: Check) -> Check:
    """Return a check that compares texts without white space at their ends."""

    def stripped(text: str, value: JSON, ignore_case: bool) -> Outcome:
        wanted = value.strip() if isinstance(value, str) else value
        return check(text.strip(), wanted, ignore_case)

    return stripped


def _starts_with(text: str, value: str, ignore_case: bool) -> Outcome:
    wanted = _folded(value, ignore_case)
    holds = _folded(text, ignore_case).startswith(wanted)
    return _end(text[: len(wanted)], holds, "starts")


def _ends_with(text: str, value: str, ignore_case: bool) -> Outcome:
    wanted = _folded(value, ignore_case)
    holds = _folded(text, ignore_case).endswith(wanted)
    return _end(text[-len(wanted) :], holds, "ends")


def _end(piece: str, holds: bool, verb: str) -> Outcome:
    found = f"it {verb} with {quoted_value(piece)}" if piece else "the text is empty"
    return Outcome(holds=holds, found=found, evidence=piece if holds else "")


def _equals(text: str, value: JSON, ignore_case: bool) -> Outcome:
    if isinstance(value, str):
        holds = _folded(text, ignore_case) == _folded(value, ignore_case)
        found = "it is the same" if holds else _other_text(text, value)
        return Outcome(holds=holds, found=found, evidence=text if holds else "")
    return _equals_json(text, value, ignore_case)


def _other_text(text: str, wanted: str) -> str:
    """Return the text that was found; what differs in white space only is shown with escapes."""
    if text.split() != wanted.split():
        return f"it is {quoted_value(text)}"
    found, sought = (quoted_value(json.dumps(each, ensure_ascii=False)) for each in (text, wanted))
    return f"it differs in white space: {found}, not {sought}"


def _equals_json(text: str, value: JSON, ignore_case: bool) -> Outcome:
    got = parsed(text)
    if isinstance(got, NotJson):
        return Outcome(holds=False, found=got.reason)
    if ignore_case:
        holds = equal(with_texts(got, str.casefold), with_texts(value, str.casefold))
    else:
        holds = equal(got, value)
    found = "it is the same" if holds else f"it is {quoted_value(got)}"
    return Outcome(holds=holds, found=found, evidence=text.strip() if holds else "")


_unfenced: Final = unfenced(_equals_json)


def _equals_exactly(text: str, value: JSON, ignore_case: bool) -> Outcome:
    return (_equals if isinstance(value, str) else _unfenced)(text, value, ignore_case)


def _matches(text: str, pattern: str, ignore_case: bool) -> Outcome:
    readable = text.encode("utf-8", "replace").decode()  # RE2 reads UTF-8: no lone surrogates
    match = _compiled(pattern, ignore_case).search(readable)
    if match is None:
        return Outcome(holds=False, found="there is no match")
    return _at(readable, match.start(), match.group())


def pattern_problem(pattern: object) -> str:
    """Return why RE2 does not read a regular expression, or ""."""
    if not isinstance(pattern, str):
        return ""
    import re2

    try:
        _compiled(pattern, False)
    except re2.error as error:
        [reason] = error.args
        return reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
    except UnicodeEncodeError:
        return "it is not Unicode text"
    return ""


@cache
def _compiled(pattern: str, ignore_case: bool) -> Any:
    import re2  # few rubrics have a pattern

    options = re2.Options()
    options.case_sensitive = not ignore_case
    options.log_errors = False
    return re2.compile(pattern, options)


def _at(text: str, start: int, passage: str) -> Outcome:
    return Outcome(holds=True, found=f"it is in {line_of(text, start)}", evidence=passage)


def _folded(text: str, ignore_case: bool) -> str:
    return text.casefold() if ignore_case else text


def _found(text: str, value: str, ignore_case: bool) -> tuple[int, str] | None:
    """Return where a value is, and the passage; it is folded where folding changes lengths."""
    folded, wanted = _folded(text, ignore_case), _folded(value, ignore_case)
    if (start := folded.find(wanted)) < 0:
        return None
    written = text if len(folded) == len(text) else folded
    return start, written[start : start + len(wanted)]


_row: Final = partial(Row, folds=True)

ROWS: Final = (
    _row(
        key="contains",
        check=_contains,
        says="contains {}",
        denies="does not contain {}",
        meaning="The text has this substring.",
        value={**TEXT, "examples": ["30 days"]},
    ),
    _row(
        key="contains_any",
        check=_contains_any,
        says="contains one of {}",
        denies="contains none of {}",
        meaning="The text has one of these substrings.",
        value={**TEXTS, "examples": [["30 days", "one month"]]},
        growth="weaker",
    ),
    _row(
        key="contains_all",
        check=_contains_all,
        says="contains all of {}",
        denies="does not contain all of {}",
        meaning="The text has all of these substrings.",
        value={**TEXTS, "examples": [["30 days", "receipt"]]},
        growth="stronger",
    ),
    _row(
        key="equals",
        check=_stripped(_equals),
        exact=_equals_exactly,
        says="equals {}",
        denies="does not equal {}",
        meaning=(
            "The text is this text, without white space at the ends. A mapping, a list or a "
            "number is compared with the text as JSON."
        ),
        value={"type": ["string", "number", "object", "array"], "examples": ["yes", 42]},
    ),
    _row(
        key="starts_with",
        check=_stripped(_starts_with),
        exact=_starts_with,
        says="starts with {}",
        denies="does not start with {}",
        meaning="The text starts with this text, after white space.",
        value={**TEXT, "examples": ["Dear"]},
    ),
    _row(
        key="ends_with",
        check=_stripped(_ends_with),
        exact=_ends_with,
        says="ends with {}",
        denies="does not end with {}",
        meaning="The text ends with this text, before white space.",
        value={**TEXT, "examples": ["Kind regards"]},
    ),
    _row(
        key="matches",
        check=_matches,
        says="matches {}",
        denies="does not match {}",
        meaning="The text has a match of this regular expression, in the syntax of RE2.",
        value={**TEXT, "examples": [r"INV-\d{4}"]},
        problem=pattern_problem,
    ),
)


def _words(holds: Callable[[int, int], bool], text: str, limit: int, _: bool) -> Outcome:
    count = len(text.split())
    return Outcome(holds=holds(count, limit), found=f"it has {plural(count, 'word')}")


def _not_whole(limit: object) -> str:
    whole = isinstance(limit, float) and limit.is_integer()  # the schema reports other floats
    return f"it must be an integer, not {limit}" if whole else ""


_COUNT: Final = {"type": "integer", "minimum": 0}

WORDS: Final = (
    Row(
        key="max_words",
        check=partial(_words, le),
        says="has at most {} words",
        denies="has more than {} words",
        title="Maximum words",
        meaning="The text has at most so many words, split at white space.",
        value={**_COUNT, "examples": [120]},
        growth="weaker",
        problem=_not_whole,
    ),
    Row(
        key="min_words",
        check=partial(_words, ge),
        says="has at least {} words",
        denies="has fewer than {} words",
        title="Minimum words",
        meaning="The text has at least so many words, split at white space.",
        value={**_COUNT, "examples": [20]},
        growth="stronger",
        problem=_not_whole,
    ),
)
