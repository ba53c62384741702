"""Read the bytes of an eval file: UTF-8 text, then YAML or JSON Lines with a sidecar."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, Protocol

from rubric_ci.files.yaml_text.constructor import AmbiguousScalar
from rubric_ci.files.yaml_text.document import Document
from rubric_ci.values.problems import GIT_LFS, LocatedProblem, Location, Path, Place, Rule
from rubric_ci.values.references import LFS_POINTER, FindFiles

if TYPE_CHECKING:
    from rubric_ci.files.yaml_text.document import LeaveOut

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
