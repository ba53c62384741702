"""A suite whose cases are in other files: one value, each place in the file that has it."""

from collections.abc import Iterable, Iterator, Mapping
from posixpath import basename, dirname
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from rubric_ci.files.yaml_text.constructor import AmbiguousScalar, OneSource
from rubric_ci.files.yaml_text.csv_cases import CASE_FILE, SUFFIXES, CsvCases
from rubric_ci.files.yaml_text.document import Document
from rubric_ci.files.yaml_text.jsonlines import JsonLines
from rubric_ci.values.problems import GIT_LFS, LocatedProblem, Location, Path, Place, Rule
from rubric_ci.values.references import IS_POINTER, FindFiles, Found, NotFound

if TYPE_CHECKING:
    from rubric_ci.files.yaml_text.document import LeaveOut

PROMPTS: Final = (".prompt.yml", ".prompt.yaml")


_IN_FILE: Final = "x-in-file-"


def written_in(data: Mapping[str, Any], key: str) -> str:
    """Return the file that has the mapping of a key; empty: the suite itself."""
    return str(data.get(_IN_FILE + key, "")).removeprefix("file://")


class Opened(NamedTuple):
    """The cases of one file, and the path of each in the data of the file."""

    file: Document | JsonLines | CsvCases
    cases: list[Any]
    prefix: Path = ()
    at_root: bool = False  # the file is one case

    @property
    def placed(self) -> Iterator[tuple[Any, "Origin"]]:
        for index, case in enumerate(self.cases):
            yield case, Origin(self.file, () if self.at_root else (*self.prefix, index))


class Origin(NamedTuple):
    """The file that has a case, and the path of the case in it."""

    file: Document | JsonLines | CsvCases
    path: Path

    def inside(self, rest: Path) -> Path:
        """Return the path of a value of the case in the data of its file."""
        return (*self.path, *(_in_test_data(rest) if self.path[:1] == ("testData",) else rest))


class CaseFiles(OneSource):
    """Implements `Source` with a suite and the files that `evalcases`, or another key, names."""

    in_files = True

    def __init__(
        self,
        suite: Document,
        find: FindFiles,
        key: str = "evalcases",
        mappings: Mapping[str, str] | None = None,
    ) -> None:
        """Read the cases; the values of `mappings` may be in files.

        The value of a key in `mappings` is the prefix of the name of such a file.
        """
        self.file, self._key = suite.file, key
        self.suite = suite
        self.text_problems = list(suite.text_problems)
        self._texts = suite.texts()
        placed = list(self._cases(suite.data[key], find))
        self._origins = [origin for _, origin in placed]
        cases = [case for case, _ in placed]
        self._mappings = {
            name: each
            for name, prefix in (mappings or {}).items()
            if (each := self._mapping(name, prefix, find))
        }
        others = {name: each.data for name, each in self._mappings.items()}
        files = {_IN_FILE + name: suite.data[name] for name in others}
        self.data: Any = {**suite.data, **others, **files, key: cases} if cases else None
        self.ambiguous: list[AmbiguousScalar] = [
            scalar for each in self._documents() for scalar in each.ambiguous
        ]

    def texts(self) -> dict[str, str]:
        return self._texts

    def location(self, path: Path, *, at_key: bool = False) -> Location:
        file, inside = self._placed(path)
        return file.location(inside, at_key=at_key)

    def locate(self, path: Path, *, at_key: bool = False) -> Place:
        return self.location(path, at_key=at_key).place

    def written(self, path: Path) -> str | None:
        file, inside = self._placed(path)
        return None if isinstance(file, CsvCases) else file.written(inside)

    def paths_of(self, nodes: Iterable[Any], leave_out: "LeaveOut") -> dict[int, Path]:
        known = list(nodes)
        cases = {(id(each.file), each.path): n for n, each in enumerate(self._origins)}
        found: dict[int, Path] = {}
        for document in self._documents():
            for node, path in document.paths_of(known, leave_out).items():
                lengths = (n for n in range(3) if (id(document), path[:n]) in cases)
                length = next(lengths, 0)
                if length:
                    found[node] = (self._key, cases[id(document), path[:length]], *path[length:])
                elif document is self.suite and not (len(path) > 1 and path[0] == self._key):
                    found[node] = path  # a name of a file is at no path of a case
        return found

    def _documents(self) -> list[Document]:
        files = {id(each.file): each.file for each in self._origins}
        others = (each for each in files.values() if isinstance(each, Document))
        return [self.suite, *(each for each in others if each is not self.suite)]

    def _placed(self, path: Path) -> tuple[Document | JsonLines | CsvCases, Path]:
        """Return the file that has a value, and the path of the value in it."""
        if len(path) > 1 and path[0] == self._key and isinstance(path[1], int):
            origin = self._origins[int(path[1])]
            return origin.file, origin.inside(path[2:])
        if len(path) > 1 and path[0] in self._mappings:
            return self._mappings[str(path[0])], path[1:]
        return self.suite, path

    def _cases(self, written: Any, find: FindFiles) -> Iterator[tuple[Any, Origin]]:
        entries: list[tuple[Any, Path]] = [(written, (self._key,))]
        if isinstance(written, list):
            entries = [(each, (self._key, index)) for index, each in enumerate(written)]
        for entry, path in entries:
            if isinstance(entry, str):
                name = entry.removeprefix("file://")
                in_folders = name.endswith("/") and self._key != "evalcases"
                for found in find(f"{name}*/case.y*ml" if in_folders else name):
                    yield from self._opened(found, entry, path).placed
                if in_folders and isinstance(find(f"{name}*/workspace/**")[0], Found):
                    self._note(path, f"`{entry}`: a folder `workspace` of a case is not read")
            else:
                yield entry, Origin(self.suite, path)

    def _mapping(self, key: str, prefix: str, find: FindFiles) -> Document | None:
        """Return the file that a value names; None: it is not a name, or there is a problem."""
        written = self.suite.data.get(key)
        if not isinstance(written, str) or not written.startswith(prefix):
            return None
        (found,) = find(written.removeprefix(prefix))[:1]
        if isinstance(found, Found):
            self._texts[found.path] = found.text
            document = Document(found.path, found.text)
            self.text_problems += document.text_problems
            if isinstance(document.data, dict) or document.text_problems:
                return document if isinstance(document.data, dict) else None
        reason = found.reason if isinstance(found, NotFound) else "it has no mapping"
        self._note((key,), f"`{written}`: {reason}")
        return None

    def _opened(self, found: Found | NotFound, entry: str, path: Path) -> Opened:
        """Return the cases of a file; none if there is a problem, which is noted."""
        if isinstance(found, NotFound) and found.reason == IS_POINTER:
            self._note(path, f"`{entry}` {IS_POINTER}", GIT_LFS)
            return Opened(self.suite, [])
        reason = f"`{entry}`: {found.reason}" if isinstance(found, NotFound) else ""
        if ".xlsx" in entry or (entry.endswith(SUFFIXES) and self._key != "evalcases"):
            kind = "workbook" if ".xlsx" in entry else "table"
            reason = f"`{entry}`: a {kind} is not read in place; `rubric-ci import` reads it"
        if isinstance(found, Found) and found.path in self._texts:
            reason = f"`{found.path}` is named twice"
        if isinstance(found, Found) and not reason:
            self._texts[found.path] = found.text
            opened = open_cases(found)
            if isinstance(opened, Opened):
                self.text_problems += opened.file.text_problems
                return opened
            reason = f"`{found.path}`: {opened}"
        self._note(path, reason)
        return Opened(self.suite, [])

    def _note(self, path: Path, reason: str, rule: Rule = CASE_FILE) -> None:
        place = self.suite.locate(path)
        self.text_problems.append((self.file, LocatedProblem(rule, *place, reason)))


def open_cases(found: Found) -> Opened | str:
    """Return the cases of a file, or why it has none."""
    path, text = found
    if path.endswith(SUFFIXES):
        table = CsvCases(path, text)
        return Opened(table, table.cases)
    if path.endswith(".jsonl"):
        lines = JsonLines(path, text)
        return Opened(lines, lines.data["evalcases"] if lines.data else [], ("evalcases",))
    if not path.endswith((".yaml", ".yml", ".json")):
        return "cases are in `.yaml`, `.yml`, `.json`, `.jsonl`, `.csv` or `.tsv` files"
    document = Document(path, text)
    if not document.readable:
        return Opened(document, [])
    if path.endswith(PROMPTS):
        return _test_data(document)
    return _open_yaml(document)


def _open_yaml(document: Document) -> Opened | str:
    data = document.data
    if isinstance(data, list):
        return Opened(document, data)
    if basename(document.file) in {"case.yaml", "case.yml"} and isinstance(data, dict):
        name = basename(dirname(document.file))
        return Opened(document, [data if "id" in data else {"id": name, **data}], at_root=True)
    if isinstance(data, dict) and isinstance(data.get("evalcases"), list):
        others = [key for key in data if key != "evalcases" and not key.startswith(("x-", "$"))]
        if others:
            return f"it is a suite, with `{others[0]}`; a file of cases is a list"
        return Opened(document, data["evalcases"], ("evalcases",))
    return "it has no list of cases"


def _test_data(document: Document) -> Opened | str:
    rows = document.data.get("testData") if isinstance(document.data, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        return "it has no list `testData`"
    stem = basename(document.file).partition(".")[0]
    cases = [_test_data_case(row, f"{stem}-{number}") for number, row in enumerate(rows, 1)]
    return Opened(document, cases, ("testData",))


def _test_data_case(row: dict[str, Any], name: str) -> dict[str, Any]:
    """Return an entry of `testData` as a case; all but `input` and `expected` are variables."""
    case = {"id": row.get("id", name)}
    case |= {"input": row["input"]} if "input" in row else {}
    case |= {"expected_output": row["expected"]} if "expected" in row else {}
    values = {key: value for key, value in row.items() if key not in ("id", "input", "expected")}
    return case | ({"vars": values} if values else {})


def _in_test_data(path: Path) -> Path:
    if path[:1] == ("vars",):
        return path[1:]
    return ("expected", *path[1:]) if path[:1] == ("expected_output",) else path
