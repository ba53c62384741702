"""The records of a trace file: JSON Lines, read line by line, one JSON text, or a table."""

import json
import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import accumulate, chain, islice
from typing import Any, Final, NamedTuple, TypeAlias

from rubric_ci.files.yaml_text.csv_cases import Broken, header_and_rows, table
from rubric_ci.files.yaml_text.document import MAX_CHARACTERS
from rubric_ci.files.yaml_text.jsonlines import JsonPositions
from rubric_ci.parts.bring.chat_messages import NotAChat
from rubric_ci.parts.bring.spans_and_otlp import Span, Unreadable
from rubric_ci.parts.bring.trace_formats import FORMATS, format_of
from rubric_ci.values.json_value import JSON
from rubric_ci.values.problems import Path

_LISTS: Final = ("data", "events", "items", "rows", "runs", "spans", "traces", "examples")
_NO_OBJECT: Final = "it is not a JSON object"
_BY_LINE: Final = "export JSON Lines, which is read line by line"
_LONG: Final = f"it has more than {MAX_CHARACTERS:,} characters"
_DEEP: Final = "it is nested too deeply"


class Record(NamedTuple):
    """An object of a trace file, and its line."""

    line: int
    value: Mapping[str, Any]


class Fault(NamedTuple):
    """A line that cannot be read, and why, as a sentence."""

    line: int
    message: str


Found: TypeAlias = Span | Fault


def spans(file: str, records: Iterable[Record | Fault], form: str) -> Iterator[Found]:
    """Yield the spans of the records of a file, and the lines that cannot be read."""
    for record in records:
        if isinstance(record, Fault):
            yield record
            continue
        try:
            for span in FORMATS[form].read_spans(record.value):
                yield replace(span, file=file, line=record.line)
        except (Unreadable, NotAChat) as error:
            yield Fault(record.line, str(error))
        except RecursionError:
            yield Fault(record.line, _DEEP)


def records(lines: Iterable[str]) -> Iterator[Record | Fault]:
    """Yield the objects of JSON Lines, or of one JSON text; the first two lines decide."""
    filled = ((number, line) for number, line in enumerate(lines, start=1) if line.strip())
    start = list(islice(filled, 2))
    if not start:
        yield Fault(1, "the file is empty")
    elif any(isinstance(_value(line), dict) for _, line in start):
        for number, line in chain(start, filled):
            yield from _line_records(number, line)
    else:
        yield from _whole(chain(start, filled))


def rows(text: str) -> Iterator[Record | Fault]:
    """Yield the rows of a table; a cell with a JSON object or list is that, an empty one None."""
    if len(text) > MAX_CHARACTERS:
        yield Fault(1, f"{_LONG}; {_BY_LINE}")
        return
    try:
        found = header_and_rows(table(text))
    except Broken as error:
        yield Fault(error.problem.line, error.problem.message)
        return
    yield from (Fault(each.line, each.message) for each in found.problems)
    if not found.rows and not found.problems:
        yield Fault(1, "the table has no rows")
    for row, texts in zip(found.rows, found.texts, strict=True):
        yield Record(row[0].place[0], {name: _cell(text) for name, text in texts.items()})


def detected(found: Iterator[Record | Fault]) -> str:
    """Return the name of the format of a file by its first record, or ""."""
    first = next(found, None)
    return format_of(first.value) if isinstance(first, Record) else ""


def _line_records(number: int, line: str) -> Iterator[Record | Fault]:
    value = _value(line)
    if isinstance(value, Fault):
        yield Fault(number, value.message)
    else:
        yield from (_record(number, each) for _, each in _objects(value))


def _record(line: int, value: Any) -> Record | Fault:
    return Record(line, value) if isinstance(value, dict) else Fault(line, _NO_OBJECT)


def _whole(numbered: Iterable[tuple[int, str]]) -> Iterator[Record | Fault]:
    """Yield the objects of a JSON text, each with the line at which it starts."""
    kept: list[str] = []
    numbers: list[int] = []
    size = 0
    for number, line in numbered:
        kept.append(line)
        numbers.append(number)
        size += len(line)
        if size > MAX_CHARACTERS:
            yield Fault(number, f"{_LONG}; {_BY_LINE}")
            return
    value = _value("".join(kept))
    if isinstance(value, Fault):
        yield Fault(numbers[min(value.line, len(numbers)) - 1], value.message)
        return
    starts = list(accumulate(map(len, kept), initial=0))
    places = JsonPositions("".join(kept))
    for path, each in _objects(value):
        offset = places.offset_of(path)[0] if path else 0
        yield _record(numbers[bisect_right(starts, offset) - 1], each)


def _objects(value: Any) -> Iterator[tuple[Path, Any]]:
    """Yield the objects of a list, or of an object that only holds one, with their paths."""
    owner = value if isinstance(value, dict) else {}
    name = next((key for key in _LISTS if _are_objects(owner.get(key))), None)
    if isinstance(value, list):
        yield from (((index,), each) for index, each in enumerate(value))
    elif name and not format_of(owner):
        yield from (((name, index), each) for index, each in enumerate(owner[name]))
    elif owner:
        yield (), owner


def _are_objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, dict) for each in value)


def _value(text: str) -> Any:
    """Return the value of a JSON text; a fault with its line in the text, if there is none."""
    if len(text) > MAX_CHARACTERS:
        return Fault(1, _LONG)
    try:
        value = json.loads(
            text.removeprefix("\ufeff"), parse_constant=lambda _: None, parse_float=_finite
        )
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        return Fault(1, _DEEP)
    except json.JSONDecodeError as error:
        return Fault(error.lineno, f"it is not JSON: {error.msg.lower()} at column {error.colno}")
    except UnicodeEncodeError:
        return Fault(1, "it has an unpaired surrogate, which is not text")
    except ValueError as error:
        return Fault(1, f"it is not JSON: {error}")
    return value if isinstance(value, dict | list) else Fault(1, _NO_OBJECT)


def _cell(text: str) -> JSON:
    if text.lstrip()[:1] not in {"{", "["}:
        return text or None
    value: JSON = _value(text)
    return text if isinstance(value, Fault) else value


def _finite(text: str) -> float | None:
    """Return a number; None for one that is too large, as for NaN, which JSON does not have."""
    number = float(text)
    return number if math.isfinite(number) else None
