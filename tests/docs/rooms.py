"""The picture of the rooms in `docs/design.md`, from the import list and the imports.

`make golden` writes it.
"""

import ast
import html
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import grimp

ROOT: Final = Path(__file__).parents[2]
PICTURE: Final = ROOT / "docs/images/rooms.svg"
VALUES: Final = {"errors": "values"}  # `errors.py` is read with the values, not as a room
PARTS: Final = "parts"  # above the rooms, and none of them imports it
ROW, COLUMN, TOP, MATRIX, WIDTH = 34, 30, 96, 646, 1030
STYLE: Final = """\
text { font-family: system-ui, sans-serif; fill: #1f2328; }
.room { font-size: 15px; font-weight: 600; }
.what { font-size: 12.5px; fill: #444; }
.name { fill: #eef4ff; stroke: #3b6fb5; }
.head { font-size: 12.5px; fill: #444; }"""


def rooms() -> tuple[str, ...]:
    """Return the rooms from the top down, as import-linter has them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = settings["tool"]["importlinter"]["contracts"][0]
    return tuple(room for room in contract["layers"] if room not in {*VALUES, PARTS})


def purpose(room: str) -> str:
    """Return the first sentence of a room's docstring."""
    text = (ROOT / "rubric_ci" / room / "__init__.py").read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(text)) or "").split("\n\n")[0]


@cache
def imports() -> frozenset[tuple[str, str]]:
    """Return the pairs of rooms of which the first imports the second."""
    graph = grimp.build_graph("rubric_ci", cache_dir=None)
    found = set()
    for importer in graph.modules:
        for imported in graph.find_modules_directly_imported_by(importer):
            pair = tuple(VALUES.get(name, name) for name in map(room_of, (importer, imported)))
            found.add((pair[0], pair[1]))
    shown = {*rooms()}
    return frozenset(pair for pair in found if pair[0] != pair[1] and shown.issuperset(pair))


def room_of(module: str) -> str:
    return module.removeprefix("rubric_ci.").partition(".")[0]


def picture() -> str:
    """Return the rooms as an SVG: a row each, with a dot in the column of each imported room."""
    names = rooms()
    height = TOP + ROW * len(names) + 14
    found = imports()
    title = f"{len(names)} rooms from the top down; {len(found)} imports of one by another"
    size = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    lines = (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="title">',
        f'<title id="title">{title}</title>',
        f"<style>\n{STYLE}\n</style>",
        f'<rect width="{WIDTH}" height="{height}" rx="8" fill="#fff"/>',
        f'<text x="20" y="{TOP - 14}" class="head">a room, what goes in and what comes out</text>',
        *columns(names),
        *rows(names, found),
        "</svg>\n",
    )
    return "\n".join(lines)


def columns(names: tuple[str, ...]) -> Iterator[str]:
    """Yield the heads of the matrix, slanted, so that they do not touch."""
    for number, name in enumerate(names):
        x = MATRIX + COLUMN * number + COLUMN // 2
        place = f"translate({x} {TOP - 14}) rotate(-50)"
        yield f'<text transform="{place}" class="head">{name}</text>'


def rows(names: tuple[str, ...], found: frozenset[tuple[str, str]]) -> Iterator[str]:
    """Yield a row per room: its name, its purpose, and a cell per other room."""
    for number, name in enumerate(names):
        y = TOP + ROW * number
        yield f'<rect x="14" y="{y}" width="100" height="{ROW - 6}" rx="6" class="name"/>'
        yield f'<text x="64" y="{y + 19}" text-anchor="middle" class="room">{name}</text>'
        what = html.escape(after_colon(purpose(name)), quote=False)
        yield f'<text x="126" y="{y + 19}" class="what">{what}</text>'
        for column, other in enumerate(names):
            x = MATRIX + COLUMN * column
            fill = "#dfe3e8" if column == number else "#f6f8fa"
            yield (
                f'<rect x="{x}" y="{y}" width="{COLUMN - 4}" height="{ROW - 6}" rx="4" '
                f'fill="{fill}"/>'
            )
            if (name, other) in found:
                yield f'<circle cx="{x + 13}" cy="{y + 14}" r="6" fill="#3b6fb5"/>'


def after_colon(text: str) -> str:
    """Return a sentence without what stands before its colon and without its full stop."""
    return text.partition(": ")[2].removesuffix(".") or text.removesuffix(".")


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8", newline="\n")
