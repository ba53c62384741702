"""Rubric files, their problems, and eval files with the criteria that they include."""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from posixpath import basename
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from rubric_ci.evaluators.kind import criteria_at
from rubric_ci.files.validation.example_and_condition_rules import (
    TEST_ANSWER,
    ids_of,
    mark_problems,
)
from rubric_ci.files.validation.rubric_rules import criteria_problems
from rubric_ci.files.validation.schema import problems as schema_problems
from rubric_ci.files.yaml_text.constructor import AmbiguousScalar, OneSource
from rubric_ci.files.yaml_text.document import Document
from rubric_ci.files.yaml_text.source import Source
from rubric_ci.values.problems import (
    LocatedProblem,
    Location,
    Path,
    Place,
    Problem,
    Rule,
    list_at,
    mappings,
    with_rubrics,
)
from rubric_ci.values.references import Found, Lookup

if TYPE_CHECKING:
    from rubric_ci.values.include import Include


ENDING: Final = ".rubric.yaml"
"""How a file ends that is a rubric file by its name."""
OFTEN: Final = 3  # cases with the same criterion
BARE: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")

INCLUDE: Final = Rule(
    id="include",
    meaning=(
        "`- include: NAME` takes the criteria of a rubric file: `only` or `except` names some of "
        "them. A bare name is the nearest `rubrics/NAME.rubric.yaml` upwards. An included file "
        "includes no other."
    ),
    hint="docs/rubrics.md shows a rubric file",
    bad=with_rubrics("- Greets\n- include: gone"),
    good=with_rubrics("- Greets"),
)
RUBRIC_REPEATED: Final = Rule(
    id="rubric-repeated",
    severity="notice",
    switchable=True,
    meaning=(
        "The same criteria stand in three cases or more. In a rubric file they stand once, for "
        "`- include: NAME` or `shared_rubrics`, and an edit is one change to the grading."
    ),
    hint=(
        "move them to `rubrics/NAME.rubric.yaml` and write `- include: NAME`, or use "
        "`shared_rubrics`"
    ),
    bad="evalcases:\n"
    + "".join(f"- {{id: {name}, input: Hi, rubrics: [Greets, Is warm]}}\n" for name in "abc"),
    good="rubrics: [Greets, Is warm]\nevalcases:\n"
    + "".join(f"- {{id: {name}, input: Hi}}\n" for name in "abc"),
)
RUBRIC_UNUSED: Final = Rule(
    id="rubric-unused",
    severity="notice",
    switchable=True,
    meaning="No eval file of `evals` includes the rubric file, so it grades nothing.",
    hint="include it, or remove it",
)


class RubricFile(NamedTuple):
    """A rubric file with its problems, read once."""

    document: Document
    problems: tuple[Problem, ...]

    @property
    def faulty(self) -> bool:
        """Return True if no list can include it."""
        errors = any(each.rule.severity == "error" for each in self.problems)
        return errors or bool(self.document.text_problems)


@lru_cache(maxsize=1_000)
def open_rubric(path: str, text: str) -> RubricFile:
    """Return a rubric file and the problems of its data; the document has its text's problems."""
    document = Document(path, text)
    if not document.readable:
        return RubricFile(document, ())
    found = schema_problems("rubric", document)
    data = document.data
    if isinstance(data, dict):
        found += criteria_problems(data, ())
        found += _nested(data, path)
    return RubricFile(document, tuple(found))


def _nested(data: dict[str, Any], path: str) -> Iterator[Problem]:
    for place, each in mappings(data, "criteria"):
        if "include" in each:
            name = each["include"]
            circle = isinstance(name, str) and basename(file_name(name)) == basename(path)
            message = f"an included file includes no other: {basename(path)} → {name}"
            hint = "it is a circle" if circle else "include both where the criteria are used"
            yield Problem(INCLUDE, (*place, "include"), message, hint)


def repeated_criteria(data: Any) -> Iterator[Problem]:
    """Yield a note at the first of the criteria that stand in three cases or more."""
    found = [each for each in _places_of_equal(data) if len({case for case, *_ in each}) >= OFTEN]
    if found:
        found.sort(key=lambda each: each[0][:2])
        from rubric_ci.text.numbers import listed, plural  # a good file needs neither

        (number, index, path), cases = found[0][0], data["evalcases"]
        names = [str(cases[each].get("id") or each + 1) for each, *_ in found[0]]
        more = f" and {plural(len(found) - 1, 'more criterion', 'more criteria')}"
        subject = f"this criterion{more if found[1:] else ''}"
        verb = "stand" if found[1:] else "stands"
        cases_of = f"{len(names):,} cases: {listed(names, OFTEN)}"
        where: Path = ("evalcases", number, *path, index)
        yield Problem(RUBRIC_REPEATED, where, f"{subject} {verb} in {cases_of}")


def _places_of_equal(data: Any) -> Iterable[list[tuple[int, int, Path]]]:
    """Return for each criterion its places: number of the case, number in the list, path of it."""
    places = dict[Any, list[tuple[int, int, Path]]]()
    lists = set[int]()  # an alias is the same list
    for number, case in enumerate(list_at(data, "evalcases")):
        rubrics = case.get("rubrics") if isinstance(case, dict) else None
        criteria, path = criteria_at(rubrics, ("rubrics",))
        if isinstance(criteria, list) and id(criteria) not in lists:
            lists.add(id(criteria))
            for index, each in enumerate(criteria):
                if isinstance(each, str) or (isinstance(each, dict) and "include" not in each):
                    places.setdefault(_exact(each), []).append((number, index, path))
    return places.values()


def _exact(value: Any) -> Any:
    """Return a value that can be hashed, and is equal for equal criteria only."""
    if isinstance(value, list):
        return tuple(map(_exact, value))
    if not isinstance(value, dict):
        return value
    try:
        return frozenset(value.items())
    except TypeError:  # of a list or a mapping
        return frozenset((key, _exact(item)) for key, item in value.items())


def file_name(written: str) -> str:
    """Return the path that an include means: of a bare name `rubrics/NAME.rubric.yaml`."""
    return f"rubrics/{written}{ENDING}" if written and BARE.issuperset(written) else written


def problems_of_tests(tests: Any, criteria: Any, lookup: Lookup) -> Iterator[Problem]:
    if not isinstance(criteria, list):
        return
    named = dict(zip(ids_of(criteria), criteria, strict=True))
    for path, each in mappings({"tests": tests}, "tests"):
        yield from mark_problems(each.get("marks"), named, (*path, "marks"), several=True)
        if ("answer" in each) is ("answer_file" in each):
            message = "a test has either `answer` or `answer_file`"
            yield Problem(TEST_ANSWER, path, message)
        elif isinstance(file := each.get("answer_file"), str):
            found = lookup(file)
            if not isinstance(found, Found):
                from rubric_ci.files.validation.reference_rules import missing_file

                yield missing_file((*path, "answer_file"), file, found, lambda _: "")


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
    source: Source | None = None  # the configuration


NOT_SHARED: Final = Shared()


def may_include(source: Source) -> bool:
    """Return False if no text of a source includes or shares criteria."""
    return any(word in text for text in source.texts().values() for word in ("include", SHARED))


class IncludedSource(OneSource):
    """Implements `Source` with included criteria in place of each include."""

    def __init__(self, raw: Source) -> None:
        self.raw = raw
        self.file, self.in_files = raw.file, raw.in_files
        self.of_other_tool = raw.of_other_tool
        self.data: Any = raw.data
        self.text_problems: list[tuple[str, LocatedProblem]] = list(raw.text_problems)
        self.ambiguous: list[AmbiguousScalar] = []  # they are problems of the texts as written
        self.problems: list[Problem] = []  # of includes, with paths as written
        self.files: dict[str, RubricFile] = {}
        self.configuration: Source | None = None  # that shares criteria
        self.moved: dict[Path, tuple[Source, Path]] = {}

    @property
    def rubric_files(self) -> tuple[str, ...]:
        return (*self.files, *self.raw.rubric_files)

    @property
    def readable(self) -> bool:
        return self.raw.readable

    def texts(self) -> dict[str, str]:
        sources = [self.raw, *(each.document for each in self.files.values())]
        sources += [self.configuration] if self.configuration else []
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
            listed = [written] if isinstance(written, str) else written
            texts = listed if isinstance(listed, list) else ()  # the schema reports others
            own = dict.fromkeys((each for each in texts if isinstance(each, str)), "")
            found[key] = own | (written if isinstance(written, dict) else {})
            for part, file in more[key]:
                found[key].setdefault(part, file)
    if "examples" in more:
        found["examples"] = [*list_at(owner, "examples"), *more["examples"]]
    return found
