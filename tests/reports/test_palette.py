"""One place says which colour a verdict has."""

import re
from pathlib import Path

import pytest

from rubric_ci.reports import blocks, terminal, wording

PACKAGE = Path(blocks.__file__).parents[1]
SOURCES = sorted(p for p in PACKAGE.rglob("*") if p.suffix in {".py", ".css", ".js", ".html"})
HEX = {colour for row in blocks.COLOURS.values() for colour in (row.light, row.dark)}


@pytest.mark.parametrize("value", sorted(HEX))
def test_no_other_file_has_a_colour_of_the_palette(value: str) -> None:
    found = [path.name for path in SOURCES if value in path.read_text(encoding="utf-8").lower()]
    assert found == ["blocks.py"]


def test_style_sheets_use_names_that_exist() -> None:
    sheets = [path.read_text(encoding="utf-8") for path in SOURCES if path.suffix == ".css"]
    used = {name for text in sheets for name in re.findall(r"var\(--([\w-]+)", text)}
    assert used - {"tone"} <= set(blocks.COLOURS)
    assert [re.findall("#[0-9a-f]{3,8}\\b *[;}]", text) for text in sheets] == [[]] * len(sheets)


def test_the_variables_are_those_of_light_and_dark_paper() -> None:
    light, dark = blocks.style().split("@media")
    fail = blocks.COLOURS["fail"]
    assert f"--fail: {fail.light};" in light
    assert f"--fail: {fail.dark};" in dark
    assert "(prefers-color-scheme: dark)" in dark


def test_every_verdict_has_a_style_of_the_terminal() -> None:
    assert set(terminal.STYLES) == set(wording.STATUSES)
    assert "" not in terminal.STYLES.values()


def test_changes_have_colours_of_verdicts() -> None:
    assert set(blocks.CHANGES.values()) <= set(blocks.COLOURS)
