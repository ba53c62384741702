"""A sheet of an `.xlsx` workbook as rows of cells, each at its row and column."""

from collections.abc import Iterator
from datetime import date, time
from io import BytesIO
from typing import Any, Final

from rubric_ci.errors import CannotConfigure, InvalidInput
from rubric_ci.files.yaml_text.csv_cases import Cell
from rubric_ci.parts.bring.dialects.workbook_limits import bounded
from rubric_ci.text.numbers import listed

SUFFIX: Final = ".xlsx"


def split(name: str) -> tuple[str, str] | None:
    """Return the file and the sheet of `cases.xlsx#Sheet`; None: it is not a workbook."""
    file, mark, sheet = name.partition(f"{SUFFIX}#")
    if mark:
        return f"{file}{SUFFIX}", sheet
    return (name, "") if name.endswith(SUFFIX) else None


def rows(file: str, data: bytes, sheet: str) -> Iterator[list[Cell]]:
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
        yield [Cell(_text(each), (line, n, line, n + 1)) for n, each in enumerate(values, 1)]


def _chosen(file: str, sheets: list[str], sheet: str) -> str:
    if sheet in sheets:
        return sheet
    if not sheet and len(sheets) == 1:
        return sheets[0]
    missing = f"{file} has no sheet `{sheet}`" if sheet else f"{file} has {len(sheets)} sheets"
    named = listed([f"`{file}#{each}`" for each in sheets])
    raise CannotConfigure(missing, f"name one of {named}")


def _text(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case float():
            return f"{value:.15g}"
        case date() | time():
            return value.isoformat()
        case _:
            return str(value)
