"""A file whose data is not as its text has it: of another tool, or one target of several."""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from rubric_ci.files.yaml_text.source import Source
from rubric_ci.values.problems import LocatedProblem, Location, Path, Place, Rule


class MovedSource:
    """Implements `Source` with data whose values are at `paths` of a document."""

    of_other_tool: ClassVar[bool] = True

    def __init__(
        self,
        document: Source,
        data: Any,
        paths: Mapping[Path, Path],
        problems: Iterable[tuple[Rule, Path, str]] = (),
    ) -> None:
        self.read, self._paths = document, paths
        self.file = document.file
        self.data: Any = data
        self.ambiguous: list[Any] = []
        self.text_problems = [
            *document.text_problems,
            *(self._located(*problem) for problem in problems),
        ]

    def _located(self, rule: Rule, path: Path, message: str) -> tuple[str, LocatedProblem]:
        found = self.read.location(path, at_key=True)
        return found.file, LocatedProblem(rule, *found.place, message, rule.hint)

    @property
    def in_files(self) -> bool:
        return self.read.in_files

    @property
    def rubric_files(self) -> tuple[str, ...]:
        return ()

    @property
    def readable(self) -> bool:
        return self.read.readable

    def texts(self) -> dict[str, str]:
        return self.read.texts()

    def location(self, path: Path, *, at_key: bool = False) -> Location:
        return self.read.location(moved_from(self._paths, path), at_key=at_key)

    def locate(self, path: Path, *, at_key: bool = False) -> Place:
        return self.read.locate(moved_from(self._paths, path), at_key=at_key)

    def written(self, path: Path) -> str | None:
        return self.read.written(moved_from(self._paths, path))

    def paths_of(self, *_unused: Any) -> dict[int, Path]:
        """Return no path: ambiguous scalars are not looked for."""
        return {}


def moved_from(paths: Mapping[Path, Path], path: Path) -> Path:
    """Return the place in a file of a value of our data, or of the nearest one around it."""
    for length in range(len(path), 0, -1):
        if (found := paths.get(path[:length])) is not None:
            return (*found, *path[length:])
    return ()
