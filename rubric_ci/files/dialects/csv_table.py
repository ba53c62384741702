"""A table of cases of any tool, for `import`: a case a row, columns by their usual names."""

from collections.abc import Iterable
from typing import Any, Final

from rubric_ci.files.dialects.promptfoo_checks import Placed, add_checks
from rubric_ci.files.dialects.promptfoo_code import Setting
from rubric_ci.files.dialects.promptfoo_tests import test_of_row
from rubric_ci.files.dialects.translation import Beside, Translation
from rubric_ci.files.yaml_text.csv_cases import USUAL, Broken, table
from rubric_ci.files.yaml_text.problems import LocatedProblem, Location, Path, Place

NAME: Final = "CSV"
_MEANINGS: Final = [*USUAL.items()][:4]  # rubrics and tags are lists in a cell


class Table:
    """Implements `Source` with the rows of a table; a path is a row and a column."""

    def __init__(self, file: str, text: str) -> None:
        self.file, self._text = file, text
        self.text_problems: list[tuple[str, LocatedProblem]] = []
        self.ambiguous: list[Any] = []
        try:
            cells = [row for row in table(text) if any(cell.text.strip() for cell in row)]
        except Broken as error:
            cells = []
            self.text_problems.append((file, error.problem))
        names = [cell.text.strip() for cell in cells[0]] if cells else []
        self._places = [[cell.place for cell in row] for row in cells[1:]]
        self._names = names
        self.data: Any = [
            dict(zip(names, (cell.text for cell in row), strict=False)) for row in cells[1:]
        ]

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
        column = self._names.index(str(path[1])) if path[1:2] and path[1] in self._names else 0
        return row[min(column, len(row) - 1)]

    def written(self, path: Path) -> str | None:  # noqa: ARG002 - a cell is a text
        """Return None: a cell is a text."""
        return None

    def paths_of(self, nodes: Iterable[Any], leave_out: Any) -> dict[int, Path]:  # noqa: ARG002
        """Return no path: a table has no YAML nodes."""
        return {}


def translate(rows: list[dict[str, str]], beside: Beside) -> Translation:
    """Return the rows as cases; columns without a name of ours are variables."""
    found = Translation()
    found.put(("evalcases",), [], ())
    for index, row in enumerate(rows):
        names = {ours: _named(row, theirs) for ours, theirs in _MEANINGS}
        if not names["input"]:
            found.refuse((index,), f"the row has no text in {', '.join(USUAL['input'])}")
            continue
        ours: Path = ("evalcases", len(found.data["evalcases"]))
        found.put(ours, {"id": f"row-{index + 1}"}, (index,))
        for key, name in names.items():
            if name:
                found.put((*ours, key), row[name].strip(), (index, name))
        rest = {key: text for key, text in row.items() if key not in names.values()}
        test = test_of_row(found, rest, (index,))
        lines = [line.strip() for line in test["vars"].pop("rubrics", "").splitlines()]
        tags = test["vars"].pop("tags", "").replace(",", " ").split()
        if tags:
            found.put((*ours, "tags"), tags, (index, "tags"))
        if test["vars"]:
            found.put((*ours, "metadata"), test["vars"], (index,))
        checks: list[Any] = [{"type": "llm-rubric", "value": line} for line in lines if line]
        checks += test["assert"]
        placed: list[Placed] = [(each, (index,)) for each in checks]
        add_checks(found, placed, ours, Setting(row, beside.base))
    return found


def _named(row: dict[str, str], names: tuple[str, ...]) -> str:
    """Return the column with the first of the usual names that has a text in this row."""
    filled = {"_".join(name.lower().split()): name for name, text in row.items() if text.strip()}
    return next((filled[name] for name in names if name in filled), "")
