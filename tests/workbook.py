"""Workbooks as Excel writes them, with texts in their cells."""

from io import BytesIO
from typing import Any
from zipfile import ZipFile


def workbook(**sheets: list[list[Any]]) -> bytes:
    """Return a workbook with these rows of cells in its sheets."""
    main, of = "http://schemas.openxmlformats.org", "officeDocument/2006/relationships"
    pages, names, related = {}, "", ""
    for number, (name, rows) in enumerate(sheets.items(), 1):
        lines = ""
        for each in rows:
            cells = [
                f'<c t="inlineStr"><is><t>{value}</t></is></c>'
                if isinstance(value, str)
                else f'<c t="b"><v>{value:d}</v></c>'
                if isinstance(value, bool)
                else f"<c><v>{value}</v></c>"
                for value in each
            ]
            lines += f"<row>{''.join(cells)}</row>"
        data = f"<sheetData>{lines}</sheetData>"
        pages[f"xl/worksheets/sheet{number}.xml"] = (
            f'<worksheet xmlns="{main}/spreadsheetml/2006/main">{data}</worksheet>'
        )
        names += f'<sheet name="{name}" sheetId="{number}" r:id="rId{number}"/>'
        related += (
            f'<Relationship Id="rId{number}" Type="{main}/{of}/worksheet" '
            f'Target="worksheets/sheet{number}.xml"/>'
        )
    relations = f'<Relationships xmlns="{main}/package/2006/relationships">'
    pages["xl/workbook.xml"] = (
        f'<workbook xmlns="{main}/spreadsheetml/2006/main" xmlns:r="{main}/{of}">'
        f"<sheets>{names}</sheets></workbook>"
    )
    pages["xl/_rels/workbook.xml.rels"] = f"{relations}{related}</Relationships>"
    pages["_rels/.rels"] = (
        f'{relations}<Relationship Id="rId1" Type="{main}/{of}/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>'
    )
    packed = BytesIO()
    with ZipFile(packed, "w") as archive:
        for name, page in pages.items():
            archive.writestr(name, page)
    return packed.getvalue()
