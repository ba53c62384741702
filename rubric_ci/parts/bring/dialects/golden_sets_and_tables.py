"""Golden sets of any tool, for `import`: a case a row of a table or a record of JSON.

Columns and keys have their meaning by the usual names; all others are metadata.

A table is CSV or a sheet of an `.xlsx` workbook, which is an archive of XML. The reader makes a
table from the first cell to the last one, and copies a text into each cell that names it, so a
small file could take all memory: its entries, the cells of its sheets and the texts in them are
bounded.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, time
from io import BytesIO
from itertools import chain
from typing import Any, Final
from zipfile import BadZipFile, ZipFile, ZipInfo

from rubric_ci.errors import CannotConfigure, InvalidInput
from rubric_ci.files.yaml_text.constructor import OneSource
from rubric_ci.files.yaml_text.csv_cases import (
    USUAL,
    Broken,
    Cell,
    HeaderAndRows,
    header_and_rows,
    spelt,
    usual_names,
)
from rubric_ci.parts.bring.dialects.message_parts import NoPart, is_message, our_message
from rubric_ci.parts.bring.dialects.promptfoo_assert import add_checks
from rubric_ci.parts.bring.dialects.promptfoo_code import Setting
from rubric_ci.parts.bring.dialects.promptfoo_tests import test_of_row
from rubric_ci.parts.bring.other_tools import ABOUT, has_question, list_of
from rubric_ci.parts.bring.translation import Beside, Placed, Translation
from rubric_ci.text.numbers import listed
from rubric_ci.text.suggestions import slip
from rubric_ci.values.problems import LocatedProblem, Location, Path, Place
from rubric_ci.values.walk import text_or_json

_DECIDING: Final = (
    *("choices", "options", "files", "setup", "sandbox", "turns", "assertions", "evaluators"),
)
_CHECKS: Final = {
    key: check
    for keys, check in (
        (("must_contain", "must_include", "required_phrases"), "contains_all: […]"),
        (("contains", "contains_all", "includes"), "contains_all: […]"),
        (("forbidden", "must_not_contain", "must_not_include"), "contains_any: […], not: true"),
        (("forbidden_phrases", "not_contains", "excludes"), "contains_any: […], not: true"),
        (("contains_any",), "contains_any: […]"),
        (("regex", "matches"), "matches: …"),
    )
    for key in keys
}
"""Keys of home-made sets whose values an answer is checked by, and the checks that they mean."""
_MESSAGES: Final = {"input": "input_messages", "expected_output": "expected_messages"}


def translate_json(data: Any, beside: Beside) -> Translation:
    place = list_of(data) or ()
    found = translate(data[place[0]] if place else data, beside, place)
    if isinstance(data, dict):
        found.refuse_keys(data, (*map(str, place), *ABOUT), ())
        if isinstance(data.get("name"), str):
            found.put(("dataset",), data["name"], ("name",))
    return found


def translate_table(rows: Sequence[Mapping[str, str]], beside: Beside) -> Translation:
    columns = list(rows[0]) if rows else []
    if columns and not has_question(columns):
        found = Translation()
        found.put(("evalcases",), [], ())
        names = listed([f"`{each}`" for each in columns if each])
        hint = f"rename the right one of {names} to `input`"
        found.refuse((), f"no column is known as the question; {hint}")
        return found
    return translate(rows, beside)


def translate(rows: Sequence[Mapping[str, Any]], beside: Beside, place: Path = ()) -> Translation:
    """Return the rows as cases; `place` is the path of their list."""
    found = Translation(beside=Beside(base=beside.base))  # cells name no files that are read
    found.put(("evalcases",), [], place)
    for index, row in enumerate(rows):
        _case(found, row, index, place)
    found.keep_braces()
    return found


def _case(found: Translation, row: Mapping[str, Any], index: int, place: Path) -> None:
    where: Path = (*place, index)
    names = {ours: _named(row, theirs) for ours, theirs in USUAL.items()}
    if not names["input"]:
        found.refuse(where, f"the row has no text in {', '.join(USUAL['input'])}")
        return
    ours: Path = ("evalcases", len(found.data["evalcases"]))
    found.put(ours, {"id": f"row-{index + 1}"}, where)
    for key in ("id", "input", "expected_outcome", "expected_output"):
        if (name := names[key]) and not _refuse_checks(found, row[name], (*where, name)):
            _put(found, (*ours, key), row[name], (*where, name))
    if tags := _listed(row.get(names["tags"]), between=","):
        found.put((*ours, "tags"), tags, (*where, names["tags"]))
    meant = {*chain(*USUAL.values())}  # such a cell says nothing if it is empty
    rest = {
        key: value
        for key, value in row.items()
        if key not in names.values() and (_is_filled(value) or spelt(key) not in meant)
    }
    _refuse(found, rest, names, where)
    others = {
        key: text_or_json(each) if key.startswith("__") else each for key, each in rest.items()
    }
    test = test_of_row(found, others, where)
    if test["vars"]:
        found.put((*ours, "metadata"), test["vars"], where)
    lines = _listed(row.get(names["rubrics"]), between="\n")
    checks: list[Any] = [{"type": "llm-rubric", "value": line} for line in lines]
    placed: list[Placed] = [(each, where) for each in (*checks, *test["assert"])]
    add_checks(found, placed, ours, Setting(dict(row)))


def _named(row: Mapping[str, Any], names: Sequence[str]) -> str:
    """Return the key with the first of the usual names that has a value in this row."""
    filled = {spelt(key): key for key, value in row.items() if _is_filled(value)}
    return next((filled[name] for name in names if name in filled), "")


def _refuse(
    found: Translation, rest: Mapping[str, Any], names: Mapping[str, str], where: Path
) -> None:
    """Report keys that decide about answers, and the misspelt name of a missing meaning."""
    free = usual_names({ours for ours, name in names.items() if name})
    for key, value in rest.items():
        if not _is_filled(value) or key.startswith("__"):  # a check, or reported as none
            continue
        if spelt(key) in _DECIDING:
            found.refuse((*where, key), f"`{key}` has no counterpart")
        elif not _refuse_checks(found, {key: value}, where) and (meant := slip(spelt(key), free)):
            found.refuse((*where, key), f"`{key}` has no counterpart, `{meant}` has one")


def _refuse_checks(found: Translation, value: Any, where: Path) -> bool:
    """Report the checks of a mapping; return True if it has one."""
    checks = [key for key in value if spelt(str(key)) in _CHECKS] if isinstance(value, dict) else []
    for key in checks:
        hint = f"write `rubrics: [{{{_CHECKS[spelt(str(key))]}}}]`"
        found.refuse((*where, key), f"`{key}` is not imported as a check; {hint}")
    return bool(checks)


def _put(found: Translation, ours: Path, value: Any, theirs: Path) -> None:
    """Add a text, or messages; a mapping with one value stands for the value."""
    while isinstance(value, dict) and len(value) == 1:
        (value,) = value.values()
    key = str(ours[-1])
    try:
        messages = _messages(value, found.images) if key in _MESSAGES else []
    except NoPart as error:
        found.refuse(theirs, f"a message of it: {error}")
        return
    if messages:
        found.put((*ours[:-1], _MESSAGES[key]), messages, theirs)
        return
    if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
        value = "\nor\n".join(value) if key == "expected_output" else "\n".join(value)
    found.put(ours, text_or_json(value).strip(), theirs)


def _messages(value: Any, images: dict[str, bytes]) -> list[dict[str, Any]]:
    """Return chat messages; empty if the value has none, or has calls. Raises NoPart."""
    found = []
    for each in value if isinstance(value, list) else ():
        role = each.get("role", each.get("type")) if isinstance(each, dict) else None
        is_chat = isinstance(role, str) and is_message({**each, "role": role})
        if not is_chat or each.get("tool_calls"):
            return []
        found.append(our_message({**each, "role": role}, images))
    return found


def _is_filled(value: Any) -> bool:
    return value not in (None, [], {}) and bool(text_or_json(value).strip())


def _listed(value: Any, between: str) -> list[str]:
    """Return the texts of a list, or of a text with separators."""
    if isinstance(value, list):
        return [text_or_json(each).strip() for each in value]
    text = text_or_json(value) if _is_filled(value) else ""
    if between == ",":
        return text.replace(",", " ").split()
    return [line.strip() for line in text.splitlines() if line.strip()]


class Table(OneSource):
    """Implements `Source` with the rows of a table; a path is a row and a column."""

    of_other_tool = True

    def __init__(self, file: str, rows: Iterable[list[Cell]], text: str = "") -> None:
        self.file, self._text = file, text
        self.ambiguous: list[Any] = []
        try:
            found = header_and_rows(rows)
        except Broken as error:
            found = HeaderAndRows([], [], [error.problem])
        self.text_problems: list[tuple[str, LocatedProblem]] = [(file, p) for p in found.problems]
        self._places = [[cell.place for cell in row] for row in found.rows]
        self.columns = [cell.text for cell in found.header]
        self.data: Any = found.texts

    @property
    def readable(self) -> bool:
        return bool(self.data)

    def texts(self) -> dict[str, str]:
        return {self.file: self._text}

    def location(self, path: Path, *, at_key: bool = False) -> Location:
        return Location(self.file, self.locate(path, at_key=at_key))

    def locate(self, path: Path, *, at_key: bool = False) -> Place:  # noqa: ARG002 - one place each
        if not path:
            return (1, 1, 1, 2)
        row = self._places[int(path[0])]
        column = self.columns.index(str(path[1])) if path[1:2] and path[1] in self.columns else 0
        return row[min(column, len(row) - 1)]

    def written(self, path: Path) -> str | None:  # noqa: ARG002 - a cell is a text
        """Return None: a cell is a text."""
        return None


SUFFIX: Final = ".xlsx"
MOST_BYTES: Final = 64 * 2**20  # of all entries, unpacked
MOST_CELLS: Final = 1_000_000
MOST_TEXT: Final = 256 * 2**20  # bytes: the longest text in every cell that names one
_CELL: Final = re.compile(rb"<(?:\w+:)?c\b([^<>]*?)(/?)>")
_PLACE: Final = re.compile(rb"""\br=["']([A-Za-z]{1,7})(\d{1,9})["']""")
_NAMES_TEXT: Final = re.compile(rb"""\bt=["']s["']""")
_TEXT_END: Final = re.compile(rb"</(?:\w+:)?si>")
_HINT: Final = "import a part of it, or save it as .csv"


def split_workbook(name: str) -> tuple[str, str] | None:
    """Return the file and the sheet of `cases.xlsx#Sheet`; None: it is not a workbook."""
    file, mark, sheet = name.partition(f"{SUFFIX}#")
    if mark:
        return f"{file}{SUFFIX}", sheet
    return (name, "") if name.endswith(SUFFIX) else None


def workbook_rows(file: str, data: bytes, sheet: str) -> Iterator[list[Cell]]:
    """Yield the rows of a sheet, of the only one without a name.

    Raises UserError, and ImportError without the extra `xlsx`.
    """
    from python_calamine import CalamineError, CalamineWorkbook  # few imports need it

    try:
        book = CalamineWorkbook.from_filelike(BytesIO(bounded(file, data)))
        cells = book.get_sheet_by_name(_chosen(file, book.sheet_names, sheet))
        lines = cells.to_python(skip_empty_area=False)
    except CalamineError as error:
        raise InvalidInput(f"{file} is not a workbook: {error}", "save it as .xlsx") from None
    for line, values in enumerate(lines, 1):
        yield [Cell(_cell_text(each), (line, n, line, n + 1)) for n, each in enumerate(values, 1)]


def _chosen(file: str, sheets: list[str], sheet: str) -> str:
    if sheet in sheets:
        return sheet
    if not sheet and len(sheets) == 1:
        return sheets[0]
    missing = f"{file} has no sheet `{sheet}`" if sheet else f"{file} has {len(sheets)} sheets"
    named = listed([f"`{file}#{each}`" for each in sheets])
    raise CannotConfigure(missing, f"name one of {named}")


def _cell_text(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case float():
            return f"{value:.15g}"
        case date() | time():
            return value.isoformat()
        case _:
            return str(value)


def bounded(file: str, data: bytes) -> bytes:
    """Return the workbook with its entries unpacked; raises InvalidInput for one that is too large.

    The reader gets no entry that is longer than its archive says.
    """
    unpacked = BytesIO()
    try:
        with ZipFile(BytesIO(data)) as archive, ZipFile(unpacked, "w") as copy:
            if sum(each.file_size for each in archive.infolist()) > MOST_BYTES:
                raise InvalidInput(f"{file} has more than {MOST_BYTES >> 20} MiB unpacked", _HINT)
            entries = {each.filename: archive.read(each) for each in archive.infolist()}
            for name, content in entries.items():
                copy.writestr(ZipInfo(name), content)
    except (BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError) as error:
        raise InvalidInput(f"{file} is not a workbook: {error}", "save it as .xlsx") from None
    _check_cells(file, entries)
    return unpacked.getvalue()


def _check_cells(file: str, entries: dict[str, bytes]) -> None:
    longest = max(map(len, _TEXT_END.split(entries.get("xl/sharedStrings.xml", b""))))
    for name, content in entries.items():  # a sheet may have any name
        cells = [each for each in _CELL.finditer(content) if not each[2]]
        places = [place for each in cells if (place := _PLACE.search(each[1]))]
        columns = max((_column_number(place[1]) for place in places), default=0)
        lines = max((int(place[2]) for place in places), default=0)
        if max(len(cells), columns * lines) > MOST_CELLS:
            sheet = f"the sheet {name.rpartition('/')[2]}"
            last = f": its last cell is in column {columns:,} and row {lines:,}" if places else ""
            raise InvalidInput(f"{file}: {sheet} has more than {MOST_CELLS:,} cells{last}", _HINT)
        if longest * sum(bool(_NAMES_TEXT.search(each[1])) for each in cells) > MOST_TEXT:
            raise InvalidInput(f"{file} has more than {MOST_TEXT >> 20} MiB of texts", _HINT)


def _column_number(column: bytes) -> int:
    found = 0
    for letter in column.upper():
        found = 26 * found + letter - 64
    return found
