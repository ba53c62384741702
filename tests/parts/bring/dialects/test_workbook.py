"""Workbooks that would take all memory are refused before they are opened."""

import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from rubric_ci.errors import InvalidInput
from rubric_ci.parts.bring.dialects.golden_sets_and_tables import bounded, workbook_rows
from tests.checkout import ENVIRONMENT, Checkout
from tests.invoke import invoke
from tests.workbook import workbook


def edited(name: str, old: bytes, new: bytes) -> bytes:
    """Return a workbook of two cells in which a text of an entry is replaced."""
    made = BytesIO()
    archive = zipfile.ZipFile(BytesIO(workbook(Cases=[["id", "input"]])))
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as copy:
        for each in archive.namelist():
            content = archive.read(each)
            if each.endswith(name):
                assert old in content
                content = content.replace(old, new)
            copy.writestr(each, content)
    return made.getvalue()


def far(place: str, inside: str = "<v>1</v>") -> bytes:
    cell = f'<row><c r="{place}">{inside}</c></row></sheetData>'
    return edited("sheet1.xml", b"</sheetData>", cell.encode())


@pytest.mark.parametrize("place", ["XFD1048576", "Z1048576", "ZZZZZZZ1"])
def test_a_cell_far_away_is_refused(place: str) -> None:
    with pytest.raises(
        InvalidInput, match=r"a\.xlsx: the sheet sheet1\.xml has more than 1,000,000"
    ):
        list(workbook_rows("a.xlsx", far(place), ""))


def test_a_format_far_away_is_no_cell() -> None:
    data = edited(
        "sheet1.xml", b"</sheetData>", b'<row><c r="XFD1048576" s="1"/></row></sheetData>'
    )
    assert [[cell.text for cell in row] for row in workbook_rows("a.xlsx", data, "")] == [
        ["id", "input"]
    ]


def test_an_archive_that_is_large_unpacked_is_refused() -> None:
    data = edited("sheet1.xml", b"input", b" " * (65 * 2**20))
    assert len(data) < 2**20
    with pytest.raises(InvalidInput, match=r"a\.xlsx has more than 64 MiB unpacked"):
        bounded("a.xlsx", data)


def test_one_text_in_many_cells_is_refused() -> None:
    cells = b"<row>" + b'<c t="s"><v>0</v></c>' * 1_000 + b"</row></sheetData>"
    made = BytesIO(edited("sheet1.xml", b"</sheetData>", cells))
    with zipfile.ZipFile(made, "a") as archive:
        archive.writestr("xl/sharedStrings.xml", f"<sst><si><t>{'x' * 2**20}</t></si></sst>")
    with pytest.raises(InvalidInput, match=r"a\.xlsx has more than 256 MiB of texts"):
        bounded("a.xlsx", made.getvalue())


@pytest.mark.parametrize("data", [b"no", b"PK\x03\x04" + b"\0" * 40])
def test_what_is_no_archive_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidInput, match=r"a\.xlsx is not a workbook"):
        bounded("a.xlsx", data)


def test_import_says_it(checkout: Checkout) -> None:
    Path(checkout.root / "cases.xlsx").write_bytes(far("XFD1048576"))
    done = invoke(checkout.root, ENVIRONMENT, "import", "cases.xlsx")
    assert done.returncode == 2
    assert "its last cell is in column 16,384 and row 1,048,576" in done.stderr
