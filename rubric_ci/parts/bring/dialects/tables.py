"""Tables of cases of any tool, for `import`: data with places, and a sheet of an `.xlsx` workbook.

A workbook is an archive of XML. The reader makes a table from the first cell to the last one, and
copies a text into each cell that names it, so a small file could take all memory: its entries, the
cells of its sheets and the texts in them are bounded.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import date, time
from io import BytesIO
from typing import Any, Final
from zipfile import BadZipFile, ZipFile, ZipInfo

from rubric_ci.errors import CannotConfigure, InvalidInput
from rubric_ci.files.yaml_text.constructor import OneSource
from rubric_ci.files.yaml_text.csv_cases import Broken, Cell, HeaderAndRows, header_and_rows
from rubric_ci.text.numbers import listed
from rubric_ci.values.problems import LocatedProblem, Location, Path, Place


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
