"""Days in texts: in given formats, in ISO 8601 and in common spellings with four-digit years."""

import re
from calendar import monthrange
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from typing import Final

_TOKENS: Final = {
    "YYYY": "%Y",
    "MMMM": "%B",
    "MMM": "%b",
    "MM": "%m",
    "DD": "%d",
    "HH": "%H",
    "mm": "%M",
    "ss": "%S",
    "Z": "%z",
    "%": "%%",
}
_TOKEN = re.compile("|".join(_TOKENS))
_MONTH_NAMES: Final = (
    *("january", "february", "march", "april", "may", "june", "july", "august"),
    *("september", "october", "november", "december"),
)
_MONTHS: Final = tuple([name[:3] for name in _MONTH_NAMES])
_TIME = re.compile(r"(?:T|,\s++|(?<![\s,])\s++)\d{1,2}:\d{2}(?::\d{2})?(?:\s*+[AaPp][Mm])?$")
_YEAR_FIRST = re.compile(r"(?P<year>\d{4})([-/.])(?P<month>\d{1,2})\2(?P<day>\d{1,2})")
_NUMBERS = re.compile(r"(?P<one>\d{1,2})([-/.])(?P<other>\d{1,2})\2(?P<year>\d{4})")
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_MONTH = r"(?P<name>[A-Za-z]{3,9})"
_NAMED = (
    re.compile(rf"{_DAY}(?:-|/|\.?\s+){_MONTH}(?:-|/|[.,]?\s+)(?P<year>\d{{4}})"),
    re.compile(rf"{_MONTH}(?:-|/|\.?\s+){_DAY}(?:-|/|,?\s+)(?P<year>\d{{4}})"),
)


def read_days(text: str, formats: Sequence[str] = ()) -> frozenset[date]:
    """Return the days that a text can mean: none, one, or two if day and month can be swapped.

    The first of `formats` that fits decides. Without one that fits, only unambiguous spellings
    are read if there are formats.
    """
    text = text.strip()
    for form in formats:
        try:
            return frozenset({datetime.strptime(text, _pattern(form)).date()})
        except ValueError:
            continue
    days = frozenset(_common(text))
    return days if len(days) < 2 or not formats else frozenset()


def _pattern(form: str) -> str:
    return _TOKEN.sub(lambda match: _TOKENS[match[0]], form)


def _common(text: str) -> Iterator[date]:
    try:
        yield datetime.fromisoformat(text).date()
    except ValueError:
        text = _TIME.sub("", text)
        yield from _with_month_name(text)
        yield from _in_numbers(text)


def _with_month_name(text: str) -> Iterator[date]:
    for pattern in _NAMED:
        match = pattern.fullmatch(text)
        month = _month(match["name"].lower()) if match else 0
        if match and month:
            yield from _day(int(match["year"]), month, int(match["day"]))


def _month(name: str) -> int:
    if name in _MONTH_NAMES or name in _MONTHS or name == "sept":
        return _MONTHS.index(name[:3]) + 1
    return 0


def _in_numbers(text: str) -> Iterator[date]:
    if match := _YEAR_FIRST.fullmatch(text):
        yield from _day(int(match["year"]), int(match["month"]), int(match["day"]))
    if match := _NUMBERS.fullmatch(text):
        one, other, year = int(match["one"]), int(match["other"]), int(match["year"])
        yield from _day(year, other, one)
        yield from _day(year, one, other)


def _day(year: int, month: int, day: int) -> Iterator[date]:
    try:
        yield date(year, month, day)
    except ValueError:
        return


def last_day(written: str, today: date) -> date | None:
    """Return the day that is meant: a date, or the last day of a month; None: it is neither.

    A month without a year, such as "March", is the next one, this month included.
    """
    try:
        return date.fromisoformat(written)
    except ValueError:
        pass
    if found := re.fullmatch(r"(\d{4})-(\d{2})", written):
        year, month = int(found[1]), int(found[2])
        return _end_of(year, month) if 1 <= month <= 12 and year else None
    name, _, year_written = written.strip().lower().partition(" ")
    if name not in {*_MONTHS, *_MONTH_NAMES}:
        return None
    month = 1 + _MONTHS.index(name[:3])
    if not year_written:
        return _end_of(today.year + (month < today.month), month)
    return _end_of(int(year_written), month) if re.fullmatch(r"\d{4}", year_written) else None


def _end_of(year: int, month: int) -> date:
    return date(year, month, monthrange(year, month)[1])
