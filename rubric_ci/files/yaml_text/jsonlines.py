"""JSON Lines: one case a line with the suite fields in a YAML sidecar, or one recorded answer."""

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from json import JSONDecoder
from json.decoder import scanstring  # type: ignore[attr-defined] # has no stub
from posixpath import normpath
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from rubric_ci.files.yaml_text.constructor import (
    YAML_DEPTH,
    YAML_DUPLICATE_KEY,
    YAML_NUMBER_SIZE,
    AmbiguousScalar,
    OneSource,
)
from rubric_ci.files.yaml_text.document import YAML_EMPTY, Document, lines_over_limits
from rubric_ci.files.yaml_text.scalars import MAX_DIGITS, NOT_FINITE
from rubric_ci.text.suggestions import suggest
from rubric_ci.values.json_value import MAX_DEPTH, depth
from rubric_ci.values.problems import (
    MAX_PROBLEMS,
    UNKNOWN_KEY,
    LocatedProblem,
    Location,
    Path,
    Place,
    Rule,
)

if TYPE_CHECKING:
    from rubric_ci.files.yaml_text.document import LeaveOut


_BLANKS: Final = " \t\r"


JSON_SYNTAX: Final = Rule(
    id="json-syntax",
    meaning="Each line of a JSON Lines file is one JSON object, which is one case.",
    hint="write one JSON object per line",
    bad='{"id": "greeting", "input": "Say hello", "rubrics": ["Greets"],}\n',
    good='{"id": "greeting", "input": "Say hello", "rubrics": ["Greets"]}\n',
)


class JsonLines(OneSource):
    """The cases of all lines as one suite, and the place of each value."""

    def __init__(self, file: str, text: str, sidecar: Document | None = None) -> None:
        self.file = file
        self.text = text.removeprefix("\ufeff")
        self.sidecar = sidecar
        self.text_problems: list[tuple[str, LocatedProblem]] = (
            list(sidecar.text_problems) if sidecar else []
        )
        self.ambiguous: list[AmbiguousScalar] = sidecar.ambiguous if sidecar else []
        self._lines: list[tuple[int, str]] = []  # the number and the text of each case's line
        self._places = JsonPositions("")  # of the line that was looked up last
        self.data: Any = None
        self._read_lines()

    def texts(self) -> dict[str, str]:
        return {self.file: self.text} | (self.sidecar.texts() if self.sidecar else {})

    def location(self, path: Path, *, at_key: bool = False) -> Location:
        """Return file, place and alias of the value at a path; JSON has no aliases."""
        sidecar = self._sidecar_with(path)
        if sidecar is not None:
            return sidecar.location(path, at_key=at_key)
        return Location(self.file, self.locate(path, at_key=at_key))

    def locate(self, path: Path, *, at_key: bool = False) -> Place:
        sidecar = self._sidecar_with(path)
        if sidecar is not None:
            return sidecar.locate(path, at_key=at_key)
        if len(path) < 2 or path[0] != "evalcases" or not isinstance(path[1], int):
            return 1, 1, 1, 2
        number, line = self._lines[path[1]]
        if self._places.line is not line:
            self._places = JsonPositions(line)
        start, end = self._places.offset_of(path[2:], at_key=at_key)
        return number, start + 1, number, end + 1

    def written(self, path: Path) -> str | None:
        """Return the scalar at a path as the sidecar has it; JSON has one spelling for each."""
        sidecar = self._sidecar_with(path)
        return sidecar.written(path) if sidecar is not None else None

    def paths_of(self, nodes: Iterable[Any], leave_out: "LeaveOut") -> dict[int, Path]:
        """Return a path to each node of the sidecar, by `id`, that avoids values in `leave_out`."""
        return self.sidecar.paths_of(nodes, leave_out) if self.sidecar else {}

    def _sidecar_with(self, path: Path) -> Document | None:
        return self.sidecar if path and path[0] != "evalcases" else None

    def _read_lines(self) -> None:
        large = lines_over_limits(self.text)
        if large:
            self.text_problems.append((self.file, large))
            return
        cases = []
        for number, line in enumerate(self.text.split("\n"), start=1):
            if line.strip(_BLANKS):
                value = self._line(number, line)
                if value is not None:
                    self._lines.append((number, line))
                    cases.append(value)
        suite = self.sidecar.data if self.sidecar else None
        own = dict(suite) if isinstance(suite, dict) else {}
        if "evalcases" in own and self.sidecar:
            place = self.sidecar.locate(("evalcases",), at_key=True)
            message = "the cases of a JSON Lines file belong in its lines"
            found = LocatedProblem(UNKNOWN_KEY, *place, message)
            self.text_problems.append((self.sidecar.file, found))
        if not cases and all(file != self.file for file, _ in self.text_problems):
            self._report(YAML_EMPTY, 1, 0, "the file is empty")
        self.data = {**own, "evalcases": cases} if cases else None

    def _line(self, number: int, line: str) -> Any:
        repeated: list[str] = []
        try:
            value = _decode(line, repeated)
        except (ValueError, RecursionError) as error:
            rule, offset, message = _explain(error, line)
            return self._report(rule, number, offset, message)
        for key in repeated:
            message = f"the key `{key}` occurs twice"
            self._report(YAML_DUPLICATE_KEY, number, line.rfind(json.dumps(key)), message)
        if not isinstance(value, dict):
            return self._report(JSON_SYNTAX, number, 0, "a line must be a JSON object")
        if depth(value) > MAX_DEPTH:
            return self._report(YAML_DEPTH, number, 0, f"nested more than {MAX_DEPTH} levels")
        return value

    def _report(self, rule: Rule, number: int, offset: int, message: str) -> None:
        if len(self.text_problems) > MAX_PROBLEMS:
            return
        column = max(offset, 0) + 1
        self.text_problems.append(
            (self.file, LocatedProblem(rule, number, column, number, column + 1, message))
        )


def _decode(line: str, repeated: list[str]) -> Any:
    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(items)
        if len(made) < len(items):
            counts = Counter(key for key, _ in items)
            repeated.extend(key for key, count in counts.items() if count > 1)
        return made

    value = json.loads(
        line,
        object_pairs_hook=pairs,
        parse_constant=_no_constant,
        parse_int=_bounded,
        parse_float=_finite,
    )
    if "\\u" in line:
        _no_lone_surrogates(value)
    return value


def _explain(error: ValueError | RecursionError, line: str) -> tuple[Rule, int, str]:
    """Return rule, offset and message for a line that cannot be read."""
    match error:
        case json.JSONDecodeError():
            return JSON_SYNTAX, *_syntax(error)
        case _UnusableNumber():
            return error.rule, line.find(error.token), str(error)
        case RecursionError():
            return YAML_DEPTH, 0, f"nested more than {MAX_DEPTH} levels"
        case _:
            return JSON_SYNTAX, 0, str(error)


class _UnusableNumber(ValueError):
    def __init__(self, rule: Rule, token: str, message: str) -> None:
        super().__init__(message)
        self.rule = rule
        self.token = token


def _no_constant(name: str) -> None:
    raise _UnusableNumber(NOT_FINITE, name, f"`{name}` is not a finite number")


def _bounded(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        message = f"a number of more than {MAX_DIGITS} digits"
        raise _UnusableNumber(YAML_NUMBER_SIZE, digits, message)
    return int(digits)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise _UnusableNumber(NOT_FINITE, text, f"`{text}` is not a finite number")
    return value


def _no_lone_surrogates(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("unpaired surrogate") from None


def _syntax(error: json.JSONDecodeError) -> tuple[int, str]:
    """Return offset and message of a syntax error; trailing commas as Python 3.13 reports them."""
    before, after = error.doc[: error.pos].rstrip(), error.doc[error.pos :].lstrip()
    if before.endswith(",") and after.startswith(("}", "]")):
        whole = "object" if after.startswith("}") else "array"
        return len(before) - 1, f"illegal trailing comma before end of {whole}"
    return error.pos, (error.msg[0].lower() + error.msg[1:]).removesuffix(" at")


_Members: TypeAlias = dict[str | int, tuple[int, int]]

_WHITE = re.compile(r"[ \t\r\n]*")
_VALUE = JSONDecoder().raw_decode


class JsonPositions:
    """The positions in one line; the members of a list or object are read once."""

    def __init__(self, line: str) -> None:
        self.line = line
        self._read: dict[int, _Members] = {}

    def offset_of(self, path: Path, *, at_key: bool = False) -> tuple[int, int]:
        """Return the start and end of the value at a path, or its key; else of its parent."""
        line, start = self.line, _skip(self.line, 0)
        key = (start, start + 1)
        for step in path:
            members = self._members(start)
            if step not in members:
                return start, start + 1
            first, start = members[step]
            key = (first, _key_end(line, first))
        if at_key and path:
            return key
        return (start, start + 1) if line[start] in "{[" else (start, _end(line, start))

    def _members(self, start: int) -> _Members:
        if start not in self._read:
            found: _Members = {}
            for step, place in _members(self.line, start):
                found.setdefault(step, place)
            self._read[start] = found
        return self._read[start]


def _members(line: str, start: int) -> Iterator[tuple[str | int, tuple[int, int]]]:
    """Yield each member of a list or object: its step, and the starts of its key and its value."""
    if line[start] not in "{[":
        return
    position, index = _skip(line, start + 1), 0
    while line[position] not in "}]":
        step: str | int = index
        key = position
        if line[start] == "{":
            step, end = scanstring(line, position + 1)
            position = _skip(line, _skip(line, end) + 1)
        yield step, (key, position)
        position = _skip(line, _end(line, position))
        if line[position] == ",":
            position = _skip(line, position + 1)
        index += 1


def _key_end(line: str, start: int) -> int:
    """Return the end of a key; an entry of a list has no key, so its first character is marked."""
    return int(scanstring(line, start + 1)[1]) if line[start] == '"' else start + 1


def _skip(line: str, position: int) -> int:
    found = _WHITE.match(line, position)
    return found.end() if found else position


def _end(line: str, position: int) -> int:
    return _VALUE(line, position)[1]


MEASURES: Final = frozenset(
    {"output_messages", "trace_summary", "duration_ms", "cost_usd", "token_usage"}
)
"""The keys that a recording, or the output of a command, may have next to the answer."""

_KEYS: Final = MEASURES | {"id", "file", "answer"}


class Recording(NamedTuple):
    """The answer of one case; the file is empty where the line names none."""

    file: str
    id: str
    value: dict[str, Any]


def read_recording(line: str) -> Recording:
    """Return the recording of a line; raises ValueError with the reason."""
    value: Any = _object(line)
    unknown = sorted(value.keys() - _KEYS)
    if unknown:
        raise ValueError(f"unknown key `{unknown[0]}`; {suggest(unknown[0], _KEYS)}")
    identity, file = value.get("id"), value.get("file", "")
    if not isinstance(identity, str) or not identity:
        raise ValueError("`id` must be a non-empty string")
    if not isinstance(file, str):
        raise ValueError("`file` must be a string")  # noqa: TRY004 - a line is a value - one error for all faults
    if value.get("answer") is None:
        raise ValueError("`answer` is missing")
    return Recording(normalised(file), identity, value)


@lru_cache(maxsize=1_000)
def normalised(file: str) -> str:
    """Return the name of a file as recordings are compared."""
    return normpath(file) if file else ""


def _object(line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except RecursionError:
        raise ValueError("not JSON: nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at column {error.colno}") from None
    if not isinstance(value, dict):
        raise ValueError("must be a JSON object")  # noqa: TRY004 - a line is a value
    return value
