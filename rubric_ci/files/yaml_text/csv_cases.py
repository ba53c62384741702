"""A table of cases (RFC 4180): one row a case, with the place of each cell, and its columns.

The separator is the comma, semicolon or tab that the header has most of.
"""

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Any, Final, NamedTuple

from rubric_ci.values.problems import GOOD_FILE, LocatedProblem, Location, Path, Place, Rule

COLUMNS: Final = ("id", "input", "expected_outcome", "expected_output", "rubrics", "tags")
"""Columns with a fixed meaning; every other one is a variable."""

USUAL: Final = {
    "id": ("id", "case_id", "name"),
    "input": ("input", "prompt", "question", "query", "user_input", "inputs"),
    "expected_outcome": ("expected_outcome", "criteria", "outcome"),
    "expected_output": (
        *("expected_output", "expected", "ground_truth", "reference", "ideal", "target"),
        *("reference_answer", "expected_answer", "reference_outputs", "answer", "outputs"),
    ),
    "rubrics": ("rubrics",),
    "tags": ("tags",),
}
"""Usual names of a column, or of a key of a golden set, that has a meaning, the first one first.

NOTE: next to `ground_truth` or `reference`, `answer` is the answer of a program.
"""

_HUMP: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")


def named(header: Sequence[str]) -> dict[str, str]:
    """Return the meaning of each column that has one: the first usual name in the header."""
    written = {spelt(each): each for each in reversed(header)}
    found = {ours: [n for n in usual if n in written] for ours, usual in USUAL.items()}
    return {written[names[0]]: ours for ours, names in found.items() if names}


def usual_names(known: Set[str]) -> list[str]:
    """Return the names of the meanings that a case lacks."""
    return [name for ours, usual in USUAL.items() if ours not in known for name in usual]


def spelt(name: str) -> str:
    """Return a name in any case as `USUAL` has it: `Ground truth`, `groundTruth`."""
    return "_".join(_HUMP.sub("_", name).lower().replace("-", " ").split())


SUFFIXES: Final = (".csv", ".tsv")

CASE_FILE: Final = Rule(
    id="case-file",
    meaning=(
        "`evalcases` is a list of cases, or names files with cases: `.yaml` or `.json` with a "
        "list, `.jsonl`, `.csv` or `.tsv` with a column `id`, or the `testData` of a "
        "`.prompt.yml`. The files are in the repository."
    ),
    hint="correct the file, or its name under `evalcases`",
    bad="evalcases: gone.csv\n",
    good=GOOD_FILE,
)


_PLAIN: Final = {each: re.compile(rf"[^{each}\n]*") for each in ",;\t"}


class Cell(NamedTuple):
    text: str
    place: Place


class Broken(Exception):
    """A table cannot be read; the place, and the reason."""

    def __init__(self, line: int, column: int, reason: str) -> None:
        super().__init__(reason)
        self.problem = LocatedProblem(CASE_FILE, line, column, line, column + 1, reason)


class HeaderAndRows(NamedTuple):
    """A table whose rows have a cell for each column; other rows are problems."""

    header: list[Cell]  # without white space at the ends; empty: the table is empty
    rows: list[list[Cell]]
    problems: list[LocatedProblem]

    @property
    def texts(self) -> list[dict[str, str]]:
        """The texts of each row by column."""
        names = [cell.text for cell in self.header]
        return [dict(zip(names, (c.text for c in row), strict=True)) for row in self.rows]


class CsvCases:
    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.text_problems: list[tuple[str, LocatedProblem]] = []
        self.cases: list[dict[str, Any]] = []
        self._header: list[Cell] = []
        self._numbers: dict[str, int] = {}  # of the columns, by their name
        self._rows: list[list[Cell]] = []
        try:
            self._read_rows(header_and_rows(table(text)))
        except Broken as error:
            self.text_problems.append((file, error.problem))

    def location(self, path: Path, *, at_key: bool = False) -> Location:
        """Return the place of a value of a case: its cell; of a variable's name its header."""
        return Location(self.file, self._locate(int(path[0]), path[1:], at_key=at_key))

    def _locate(self, index: int, path: Path, *, at_key: bool) -> Place:
        name = path[1] if len(path) > 1 and path[0] == "vars" else (path or ("id",))[0]
        column = self._numbers.get(str(name), self._numbers.get("id", 0))
        if at_key and name in self._numbers:
            return self._header[column].place
        cell = self._rows[index][column]
        if path[:1] == ("rubrics",) and len(path) > 1 and isinstance(path[1], int):
            return _line_of(cell, path[1])
        return cell.place

    def _read_rows(self, found: HeaderAndRows) -> None:
        if not found.header:
            raise Broken(1, 1, "the table is empty")
        self._header = found.header
        known = named([cell.text for cell in self._header])
        self._header = [c._replace(text=known.get(c.text, c.text)) for c in self._header]
        names = [cell.text for cell in self._header]
        for cell in self._header:
            if cell.text in self._numbers:
                raise Broken(*cell.place[:2], f"the column `{cell.text}` occurs twice")
            plain = cell.text.isidentifier() and cell.text.isascii()
            if not (plain or cell.text in COLUMNS):
                reason = "is not the name of a variable: letters, digits and `_`, no digit first"
                raise Broken(*cell.place[:2], f"the column `{cell.text}` {reason}")
            self._numbers[cell.text] = len(self._numbers)
        if "id" not in names:
            raise Broken(*self._header[0].place[:2], "the table has no column `id`")
        self.text_problems += [(self.file, problem) for problem in found.problems]
        for row in found.rows:
            self._rows.append(row)
            self.cases.append(_case(dict(zip(names, (cell.text for cell in row), strict=True))))
        if not (found.rows or found.problems):
            raise Broken(*self._header[0].place[:2], "the table has no rows")


def _case(cells: dict[str, str]) -> dict[str, Any]:
    case: dict[str, Any] = {name: cells[name] for name in COLUMNS[:4] if cells.get(name)}
    if rubrics := [line.strip() for line in cells.get("rubrics", "").splitlines() if line.strip()]:
        case["rubrics"] = rubrics
    if tags := cells.get("tags", "").replace(",", " ").split():
        case["tags"] = tags
    if values := {name: text for name, text in cells.items() if name not in COLUMNS}:
        case["vars"] = values
    return case


def _line_of(cell: Cell, number: int) -> Place:
    """Return the place of a line that is not blank, of the lines in a cell."""
    lines = [n for n, line in enumerate(cell.text.splitlines()) if line.strip()]
    below = lines[number] if number < len(lines) else 0
    if not below:
        return cell.place
    text = cell.text.splitlines()[below]
    return cell.place[0] + below, 1, cell.place[0] + below, len(text) + 1


def header_and_rows(found: Iterable[list[Cell]]) -> HeaderAndRows:
    """Return the rows that have a text, none under a header that names a column twice.

    Raises Broken as reading them does.
    """
    filled = [row for row in found if any(cell.text.strip() for cell in row)]
    header = [cell._replace(text=cell.text.strip()) for cell in filled[0]] if filled else []
    first = {cell.text: cell for cell in reversed(header)}
    twice = [cell for cell in header if cell.text and first[cell.text] is not cell]
    if twice:
        reasons = ((cell.place, f"the column `{cell.text}` occurs twice") for cell in twice)
        return HeaderAndRows(header, [], [Broken(*at[:2], why).problem for at, why in reasons])
    problems = []
    for row in filled[1:]:
        if len(row) != len(header):
            reason = f"the row has {len(row)} cells, and the header {len(header)}"
            problems.append(Broken(*row[0].place[:2], reason).problem)
    rows = [row for row in filled[1:] if len(row) == len(header)]
    return HeaderAndRows(header, rows, problems)


def table(text: str) -> Iterator[list[Cell]]:
    """Yield the rows of a table with any separator; raises Broken."""
    header = next((line for line in text.splitlines() if line.strip()), "")
    return rows(text, max(_PLAIN, key=header.count))


def rows(text: str, separator: str = ",") -> Iterator[list[Cell]]:
    """Yield the rows; raises Broken for a quotation mark that is not closed, or text after one."""
    text = text.removeprefix("\ufeff")
    row: list[Cell] = []
    position, line, start = 0, 1, 0  # `start` is where the line starts
    while position < len(text) or row:
        at = (line, position - start + 1)
        if text[position : position + 1] == '"':
            value, end = _quoted(text, position, at)
            line += value.count("\n")
            start = max(start, text.rfind("\n", start, end) + 1)
        else:
            # it matches the empty text as well, so there is a match
            end = _PLAIN[separator].match(text, position).end()  # type: ignore[union-attr]
            value = text[position:end].removesuffix("\r")
        row.append(Cell(value, (*at, line, end - start + 1)))
        following = text[end : end + 1]
        if following == separator:
            position = end + 1
            continue
        if following not in ("", "\n"):
            raise Broken(line, end - start + 1, "there is text after the closing quotation mark")
        yield row
        row, position, line, start = [], end + 1, line + 1, end + 1


def _quoted(text: str, position: int, at: tuple[int, int]) -> tuple[str, int]:
    pieces, place = [], position + 1
    while True:
        close = text.find('"', place)
        if close < 0:
            raise Broken(*at, "the quotation mark is not closed")
        pieces.append(text[place:close])
        if text[close + 1 : close + 2] != '"':
            return '"'.join(pieces), close + 1
        place = close + 2
