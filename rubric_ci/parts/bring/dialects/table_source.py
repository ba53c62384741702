"""A table of cases of any tool as data with places, for `import`."""

from collections.abc import Iterable
from typing import Any, ClassVar

from rubric_ci.files.yaml_text.csv_cases import Broken, Cell, HeaderAndRows, header_and_rows
from rubric_ci.values.problems import LocatedProblem, Location, Path, Place


class Table:
    """Implements `Source` with the rows of a table; a path is a row and a column."""

    of_other_tool: ClassVar[bool] = True
    in_files: ClassVar[bool] = False
    rubric_files: ClassVar[tuple[str, ...]] = ()

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
        """Return True if there are rows."""
        return bool(self.data)

    def texts(self) -> dict[str, str]:
        """Return the text by its file."""
        return {self.file: self._text}

    def location(self, path: Path, *, at_key: bool = False) -> Location:
        """Return the place of a cell, or of a row."""
        return Location(self.file, self.locate(path, at_key=at_key))

    def locate(self, path: Path, *, at_key: bool = False) -> Place:  # noqa: ARG002 - one place each
        """Return the place of a cell, or of a row."""
        if not path:
            return (1, 1, 1, 2)
        row = self._places[int(path[0])]
        column = self.columns.index(str(path[1])) if path[1:2] and path[1] in self.columns else 0
        return row[min(column, len(row) - 1)]

    def written(self, path: Path) -> str | None:  # noqa: ARG002 - a cell is a text
        """Return None: a cell is a text."""
        return None

    def paths_of(self, nodes: Iterable[Any], leave_out: Any) -> dict[int, Path]:  # noqa: ARG002
        """Return no path: a table has no YAML nodes."""
        return {}
