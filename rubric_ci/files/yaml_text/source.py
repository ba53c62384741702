"""Open the text of a file: UTF-8, then YAML, JSON Lines with a sidecar, or another tool's file.

NOTE: a file in rubric-ci's format imports no dialect, which keeps the hook fast.
"""

from collections.abc import Iterable, Mapping
from posixpath import basename, dirname
from typing import TYPE_CHECKING, Any, Final, Protocol

from rubric_ci.files.yaml_text.constructor import AmbiguousScalar, OneSource
from rubric_ci.files.yaml_text.document import Document
from rubric_ci.values import parts
from rubric_ci.values.problems import GIT_LFS, LocatedProblem, Location, Path, Place, Rule
from rubric_ci.values.references import LFS_POINTER, FindFiles

if TYPE_CHECKING:
    from types import ModuleType

    from rubric_ci.files.yaml_text.document import LeaveOut
    from rubric_ci.values.references import FindFiles


STOPPED: Final = "x-stopped"
"""The key of a case of another tool's file that gets no verdict: why."""

_BYTE_ORDER_MARKS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


UNREADABLE: Final = Rule(
    id="unreadable",
    meaning=(
        "The file cannot be read: its permissions do not allow it, it is not a regular file, it "
        "has more than 64 MiB, or a link leads out of the repository or into `.git`."
    ),
)
ENCODING: Final = Rule(
    id="encoding",
    meaning=(
        "Eval files are UTF-8, with or without a byte order mark. In another encoding, the graded "
        "text would differ from what its author sees."
    ),
    hint="save the file as UTF-8",
)


def decode(data: bytes) -> str | LocatedProblem:
    """Return the text, or the problem at the first byte that is not UTF-8."""
    if data.startswith(LFS_POINTER):
        return LocatedProblem(GIT_LFS, 1, 1, 1, 2, "the file is a pointer of Git LFS, not the text")
    kind = _BYTE_ORDER_MARKS.get(data[:2])
    if kind:
        return LocatedProblem(ENCODING, 1, 1, 1, 2, f"the file is {kind}")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8").removeprefix("\ufeff")
        line = before.count("\n") + 1
        column = len(before) - (before.rfind("\n") + 1) + 1
        message = f"the byte 0x{data[error.start]:02X} is not UTF-8"
        return LocatedProblem(ENCODING, line, column, line, column + 1, message)


class Values(Protocol):
    """Data, and its scalars as the text spells them."""

    data: Any

    def written(self, path: Path) -> str | None:
        """Return the scalar at a path as it is written, if the text has it."""


class Source(Values, Protocol):
    """An eval file as data with places: a `Document`, `JsonLines` or `CaseFiles`."""

    file: str
    text_problems: list[tuple[str, LocatedProblem]]
    ambiguous: list[AmbiguousScalar]

    @property
    def of_other_tool(self) -> bool:
        """Return True if it is written for another tool, and read as it is."""

    @property
    def in_files(self) -> bool:
        """Return True if cases are in files that the suite names."""

    @property
    def rubric_files(self) -> tuple[str, ...]:
        """Return the files with criteria that it includes, from the root."""

    @property
    def readable(self) -> bool:
        """Return True if there is data to check."""

    def texts(self) -> dict[str, str]:
        """Return every text by its file."""

    def location(self, path: Path, *, at_key: bool = False) -> Location:
        """Return file, place and alias of the value at a path."""

    def locate(self, path: Path, *, at_key: bool = False) -> Place:
        """Return the place of the value at a path or of its key, else of the nearest parent."""

    def paths_of(self, nodes: Iterable[Any], leave_out: "LeaveOut") -> dict[int, Path]:
        """Return a path to each YAML node, by `id`, that avoids the values in `leave_out`."""


def names_files(written: Any) -> bool:
    """Return True if cases of a suite, as they are written, are in other files."""
    return any(
        isinstance(each, str) for each in (written if isinstance(written, list) else [written])
    )


def open_own_source(
    path: str, text: str, sidecar: str | None = None, find: FindFiles | None = None
) -> Source:
    """Parse a text; `sidecar` is the YAML file with the suite fields of a JSON Lines file.

    `find` finds the files that `evalcases` names; without it, they are not read.
    """
    if not path.endswith(".jsonl"):
        document = Document(path, text)
        if find and isinstance(document.data, dict) and names_files(document.data.get("evalcases")):
            from rubric_ci.files.yaml_text.case_files import CaseFiles  # few suites need it

            return CaseFiles(document, find)
        return document
    from rubric_ci.files.yaml_text.jsonlines import JsonLines  # few files need it

    suite = None
    if sidecar is not None:
        suite = Document(f"{path.removesuffix('.jsonl')}.yaml", sidecar)
    return JsonLines(path, text, suite)


PROVIDERS_NAMES: Final = ("providers.yaml", "providers.yml")
AGENTV: Final = ".agentv"


def open_source(
    path: str, text: str, sidecar: str | None = None, find: "FindFiles | None" = None
) -> Source:
    """Parse a text as `open_own_source` does; a file of a dialect has its data as ours."""
    opened = open_own_source(path, text, sidecar, find)
    if path.endswith(".jsonl"):
        foreign = _has_lines_of_agentv(opened.data)
    else:
        foreign = isinstance(opened, Document) and dialect_of(opened.data) is not None
    translate = parts.offered("translated source") if foreign else None
    read: Source = translate(opened, path, find) if translate else opened
    return read


def open_config(path: str, text: str, place: str = "") -> Source:
    """Parse the text of a configuration or a targets file; AgentV's are translated.

    `place` is its name with its folder, if `path` may lack it.
    """
    document, name = Document(path, text), place or path
    foreign = basename(dirname(name)) == AGENTV and document.readable
    translate = parts.offered("translated configuration") if foreign else None
    read: Source = translate(document, name) if translate else document
    return read


def dialect_of(data: Any) -> "ModuleType | None":
    """Return the dialect of a file, by its keys; None: ours, or no eval file."""
    if data is None or (isinstance(data, dict) and "evalcases" in data):
        return None
    find = parts.offered("dialect of")
    found: ModuleType | None = find(data) if find else None
    return found


def is_providers(file: str) -> bool:
    """Return True for the name of a file with the providers of AgentV 5."""
    return basename(file) in PROVIDERS_NAMES and basename(dirname(file)) == AGENTV


def _has_lines_of_agentv(data: Any) -> bool:
    """Return True for JSON Lines of AgentV 2.7 or later: by their graders, without our keys."""
    lines = data["evalcases"] if isinstance(data, dict) else []
    return any(_OF_LINE & line.keys() for line in lines) and all(
        "id" in line and _OURS.isdisjoint(line) for line in lines
    )


_OF_LINE: Final = frozenset(("criteria", "assert", "assertions"))
_OURS: Final = frozenset(("rubrics", "expected_outcome", "outcome", "evaluators"))


class MovedSource(OneSource):
    """Implements `Source` with data whose values are at `paths` of a document."""

    of_other_tool = True

    def __init__(
        self,
        document: Source,
        data: Any,
        paths: Mapping[Path, Path],
        problems: Iterable[tuple[Rule, Path, str]] = (),
    ) -> None:
        self.read, self._paths = document, paths
        self.file, self.in_files = document.file, document.in_files
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


def moved_from(paths: Mapping[Path, Path], path: Path) -> Path:
    """Return the place in a file of a value of our data, or of the nearest one around it."""
    for length in range(len(path), 0, -1):
        if (found := paths.get(path[:length])) is not None:
            return (*found, *path[length:])
    return ()
