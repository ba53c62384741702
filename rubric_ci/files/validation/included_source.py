"""An eval file with the criteria that it includes, each place in the file that has it."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from rubric_ci.files.validation.rubric_files import RubricFile
from rubric_ci.files.yaml_text.constructor import AmbiguousScalar
from rubric_ci.files.yaml_text.source import Source
from rubric_ci.values.problems import LocatedProblem, Location, Path, Place, Problem

if TYPE_CHECKING:  # few files have one
    from rubric_ci.values.include import Include

SHARED: Final = "shared_rubrics"

More: TypeAlias = Mapping[str, list[Any]]
"""The parts of a request that come from a rubric file: `sees`, `guidelines`, `examples`.

A part or a text is a pair with its file; `union` makes mappings of them.
"""


class Entry(NamedTuple):
    data: Any
    source: Source
    path: Path
    more: More | None = None  # what its file shows the judge; None: not included


class Shared(NamedTuple):
    """The `shared_rubrics` of a configuration, which each of its eval files gets."""

    entries: tuple[Entry, ...] = ()
    problems: tuple[Problem, ...] = ()  # with paths of the configuration
    files: Mapping[str, RubricFile] = {}


NOT_SHARED: Final = Shared()


def may_include(source: Source) -> bool:
    """Return False if no text of a source includes or shares criteria."""
    return any(word in text for text in source.texts().values() for word in ("include", SHARED))


class IncludedSource:
    """Implements `Source` with included criteria in place of each include."""

    def __init__(self, raw: Source) -> None:
        self.raw = raw
        self.file = raw.file
        self.data: Any = raw.data
        self.text_problems: list[tuple[str, LocatedProblem]] = list(raw.text_problems)
        self.ambiguous: list[AmbiguousScalar] = []  # they are problems of the texts as written
        self.problems: list[Problem] = []  # of includes, with paths as written
        self.files: dict[str, RubricFile] = {}
        self.moved: dict[Path, tuple[Source, Path]] = {}

    @property
    def of_other_tool(self) -> bool:
        return self.raw.of_other_tool

    @property
    def in_files(self) -> bool:
        return self.raw.in_files

    @property
    def rubric_files(self) -> tuple[str, ...]:
        return (*self.files, *self.raw.rubric_files)

    @property
    def readable(self) -> bool:
        return self.raw.readable

    def texts(self) -> dict[str, str]:
        sources = (self.raw, *(each.document for each in self.files.values()))
        return {path: text for source in sources for path, text in source.texts().items()}

    def location(self, path: Path, *, at_key: bool = False) -> Location:
        source, origin = self.origin(path)
        return source.location(origin, at_key=at_key)

    def locate(self, path: Path, *, at_key: bool = False) -> Place:
        return self.location(path, at_key=at_key).place

    def written(self, path: Path) -> str | None:
        source, origin = self.origin(path)
        return source.written(origin)

    def paths_of(self, nodes: Iterable[Any], leave_out: Any) -> dict[int, Path]:
        return self.raw.paths_of(nodes, leave_out)

    def origin(self, path: Path) -> tuple[Source, Path]:
        """Return the file of the value at a path, and its path in that file."""
        for length in range(len(path), 0, -1):
            if found := self.moved.get(path[:length]):
                return found[0], (*found[1], *path[length:])
        return self.raw, path


def scaled(criterion: dict[str, Any], include: "Include") -> dict[str, Any]:
    """Return a criterion with the factor of its include, and without a gate if that says so."""
    found, factor = dict(criterion), include.factor
    if factor != 1:
        key = "penalty" if "penalty" in found else "weight"
        found[key] = found.get(key, 1.0) * factor
        if not found[key] and (key == "penalty" or criterion.get("weight", 0) < 0):
            found |= {"penalty": 0}
            found.pop("weight", None)
    if not include.required:
        for gate in ("required_min_score", "required_min_level", "required_choices"):
            found.pop(gate, None)
        if not {"score_ranges", "levels", "choices"} & found.keys() or "required" in found:
            found["required"] = False
    return found


def together(shown: Iterable[More | None]) -> dict[str, list[Any]]:
    """Return the texts that included files add to a request, each file once."""
    every = {id(each): each for each in shown if each}.values()
    return {
        key: [part for more in every for part in more.get(key, ())]
        for key in ("sees", "guidelines", "examples")
        if any(key in more for more in every)
    }


def union(owner: Mapping[str, Any], more: More) -> dict[str, Any]:
    """Return the keys of an owner and of the files that it includes."""
    found = dict[str, Any]()
    for key, default in (("sees", ["answer"]), ("guidelines", [])):
        if key in more:
            written = owner.get(key, default)
            own = dict.fromkeys([written] if isinstance(written, str) else written, "")
            found[key] = own | (written if isinstance(written, dict) else {})
            for part, file in more[key]:
                found[key].setdefault(part, file)
    if "examples" in more:
        found["examples"] = [*owner.get("examples", ()), *more["examples"]]
    return found
