"""Rubric files, and the criteria that other files include from them.

An include is replaced before the rules see a list of criteria, so that judge, scores and gates
know one list. A place inside an included criterion is a place in its rubric file.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from posixpath import basename
from typing import Any, Final, NamedTuple

from rubric_ci.evaluators.kind import INCLUDED, Included, criteria_at
from rubric_ci.files.validation.rubric_rules import criteria_problems
from rubric_ci.files.validation.schema import problems as schema_problems
from rubric_ci.files.yaml_text.constructor import AmbiguousScalar
from rubric_ci.files.yaml_text.document import Document
from rubric_ci.files.yaml_text.source import Source
from rubric_ci.text.suggestions import did_you_mean, nearest
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.problems import (
    LocatedProblem,
    Location,
    Path,
    Place,
    Problem,
    Rule,
    with_rubrics,
)
from rubric_ci.values.references import Found, Lookup

SHARED: Final = "shared_rubrics"
ENDING: Final = ".rubric.yaml"
"""How a file ends that is a rubric file by its name."""
BARE: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
_HOLDERS: Final = frozenset(("evalcases", "turns", "execution", "evaluators", "aggregator"))

INCLUDE: Final = Rule(
    id="include",
    meaning=(
        "`- include: NAME` takes the criteria of a rubric file: `only` or `except` names some of "
        "them. A bare name is the nearest `rubrics/NAME.rubric.yaml` upwards. An included file "
        "includes no other."
    ),
    hint="docs/good-rubrics.md shows a rubric file",
    bad=with_rubrics("- Greets\n- include: gone"),
    good=with_rubrics("- Greets"),
)


class RubricFile(NamedTuple):
    """A rubric file with its problems, read once."""

    document: Document
    problems: tuple[Problem, ...]

    @property
    def faulty(self) -> bool:
        """Return True if no list can include it."""
        return bool(self.document.text_problems) or any(map(_is_error, self.problems))


def _is_error(problem: Problem) -> bool:
    return problem.rule.severity == "error"


@lru_cache(maxsize=1_000)
def open_rubric(path: str, text: str) -> RubricFile:
    """Return a rubric file and the problems of its data; those of its text are in the document."""
    document = Document(path, text)
    if not document.readable:
        return RubricFile(document, ())
    found = schema_problems("rubric", document)
    data = document.data
    if isinstance(data, dict):
        found += criteria_problems(data.get("criteria"), ("criteria",))
        found += _nested(data.get("criteria"), path)
    return RubricFile(document, tuple(found))


def _nested(criteria: Any, path: str) -> Iterator[Problem]:
    for index, each in enumerate(criteria if isinstance(criteria, list) else ()):
        if isinstance(each, dict) and "include" in each:
            name = each["include"]
            circle = isinstance(name, str) and basename(file_name(name)) == basename(path)
            message = f"an included file includes no other: {basename(path)} → {name}"
            hint = "it is a circle" if circle else "include both where the criteria are used"
            yield Problem(INCLUDE, ("criteria", index, "include"), message, hint)


def file_name(written: str) -> str:
    """Return the path that an include means: of a bare name `rubrics/NAME.rubric.yaml`."""
    return f"rubrics/{written}{ENDING}" if written and BARE.issuperset(written) else written


class Shared(NamedTuple):
    """The `shared_rubrics` of a configuration, which each of its eval files gets."""

    entries: "tuple[_Entry, ...]" = ()
    problems: tuple[Problem, ...] = ()  # with paths of the configuration
    files: Mapping[str, RubricFile] = {}


NOT_SHARED: Final = Shared()


def shared_of(document: Source, lookup: Lookup) -> Shared:
    """Return the criteria of every case that a configuration has, with those that it includes."""
    listed = document.data.get(SHARED) if isinstance(document.data, dict) else None
    if not isinstance(listed, list):
        return NOT_SHARED
    within = Document(document.file, "")
    within.data = {"criteria": listed}
    found = [
        each._replace(path=(SHARED, *each.path[1:]))
        for each in (
            *schema_problems("rubric", within),
            *criteria_problems(within.data["criteria"], ("criteria",), total=False),
        )
    ]
    into = IncludedSource(document)
    entries = tuple(_Expansion(into, lookup).shared(listed, "config"))
    faulty = [name for name, each in into.files.items() if each.faulty]
    found += into.problems
    found += [Problem(INCLUDE, (SHARED,), f"`{name}` has errors; validate it") for name in faulty]
    return Shared(entries, tuple(found), into.files)


def with_includes(source: Source, lookup: Lookup, shared: Shared = NOT_SHARED) -> Source:
    """Return a source with the criteria that it includes and shares; itself, if it has none."""
    if hasattr(source, "found") or not isinstance(source.data, dict) or not source.readable:
        return source
    words = ("include", SHARED)
    if not shared.entries and not any(w in t for t in source.texts().values() for w in words):
        return source
    included = IncludedSource(source)
    _Expansion(included, lookup).run(shared)
    return included if included.moved or included.files or included.problems else source


class IncludedSource:
    """Implements `Source` with included criteria in place of each include."""

    def __init__(self, raw: Source) -> None:
        """Begin with the source as it is written."""
        self.raw = raw
        self.file = raw.file
        self.data: Any = raw.data
        self.text_problems: list[tuple[str, LocatedProblem]] = list(raw.text_problems)
        self.ambiguous: list[AmbiguousScalar] = []  # they are problems of the texts as written
        self.problems: list[Problem] = []  # of includes, with paths as written
        self.files: dict[str, RubricFile] = {}
        self.moved: dict[Path, tuple[Source, Path]] = {}

    @property
    def readable(self) -> bool:
        """Return True if there is data to check."""
        return self.raw.readable

    def texts(self) -> dict[str, str]:
        """Return every text by its file."""
        own = self.raw.texts()
        return own | {
            p: t for each in self.files.values() for p, t in each.document.texts().items()
        }

    def location(self, path: Path, *, at_key: bool = False) -> Location:
        """Return file, place and alias of the value at a path."""
        source, origin = self.origin(path)
        return source.location(origin, at_key=at_key)

    def locate(self, path: Path, *, at_key: bool = False) -> Place:
        """Return the place of the value at a path or of its key, else of the nearest parent."""
        return self.location(path, at_key=at_key).place

    def written(self, path: Path) -> str | None:
        """Return the scalar at a path as it is written, if the text has it."""
        source, origin = self.origin(path)
        return source.written(origin)

    def paths_of(self, nodes: Iterable[Any], leave_out: Any) -> dict[int, Path]:
        """Return a path to each YAML node as written."""
        return self.raw.paths_of(nodes, leave_out)

    def origin(self, path: Path) -> tuple[Source, Path]:
        """Return the file of the value at a path, and its path in that file."""
        for length in range(len(path), 0, -1):
            if found := self.moved.get(path[:length]):
                return found[0], (*found[1], *path[length:])
        return self.raw, path


class _Expansion:
    """Replaces the includes of a source, which it fills in."""

    def __init__(self, into: IncludedSource, lookup: Lookup) -> None:
        self._into = into
        self._lookup = lookup
        self._found: dict[str, RubricFile | str] = {}

    def run(self, shared: Shared) -> None:
        """Replace every include of the data, and give each case the shared criteria."""
        raw = self._into.raw.data
        self._into.data = self._owner(raw, ())
        listed = raw.get(SHARED)
        own = tuple(self.shared(listed, "shared")) if isinstance(listed, list) else ()
        self._into.files |= shared.files
        if own or shared.entries:
            self._share(own, shared.entries)

    def shared(self, listed: list[Any], name: str) -> Iterator["_Entry"]:
        """Yield shared criteria; one without an id is `name-<n>`."""
        for each in self._entries(listed, (SHARED,)):
            if not isinstance(each.data, dict):
                continue
            if each.file:
                origin = each.data[INCLUDED]._replace(shared=True)
                yield each._replace(data={**each.data, INCLUDED: origin})
                continue
            span = Span(*each.source.locate(each.path), file=each.source.file)
            number = int(each.path[-1]) + 1
            origin = Included(span=span, given={}, defaults={}, shared=True)
            data = {**each.data, INCLUDED: origin}
            if data["id"] == f"rubric-{number}":
                data["id"] = f"{name}-{number}"
            yield each._replace(data=data)

    def _share(self, own: "tuple[_Entry, ...]", others: "tuple[_Entry, ...]") -> None:
        data = self._into.data
        cases = data.get("evalcases")
        if not isinstance(cases, list):
            return
        given = [self._with_shared(each, n, own, others) for n, each in enumerate(cases)]
        others = {key: value for key, value in data.items() if key != "rubrics"}
        self._into.data = {**others, "evalcases": given}  # each case has those of the suite

    def _with_shared(
        self, case: Any, index: int, own: "tuple[_Entry, ...]", others: "tuple[_Entry, ...]"
    ) -> Any:
        """Return a case with the shared criteria after its own, or after those of its suite."""
        if not isinstance(case, dict):
            return case
        shared = (*(() if case.get(SHARED) is False else own), *others)
        at: Path = ("evalcases", index, "rubrics")
        written, place = (
            (case["rubrics"], at)
            if "rubrics" in case
            else (self._into.data.get("rubrics", []), ("rubrics",))
        )
        listed, where = criteria_at(written, place)
        if not shared or not isinstance(listed, list):
            return case
        entries = list(_without_known(shared, listed))
        more = _shared_keys([each.file for each in entries if each.file])
        mapping = isinstance(written, dict) or bool(more)
        target: Path = (*at, "criteria") if mapping else at
        origins = [self._into.origin((*where, n)) for n in range(len(listed))]
        places = [*origins, *((each.source, each.path) for each in entries)]
        self._into.moved |= {(*target, n): each for n, each in enumerate(places)}
        criteria = [*listed, *(each.data for each in entries)]
        if not mapping:
            return {**case, "rubrics": criteria}
        base = _mapping(written)
        return {**case, "rubrics": {**base, **_union(base, more), "criteria": criteria}}

    def _owner(self, value: Any, path: Path) -> Any:
        """Return a suite, case, turn or evaluator, and what is in it, with included criteria."""
        if isinstance(value, list):
            return _same(value, [self._owner(each, (*path, n)) for n, each in enumerate(value)])
        if not isinstance(value, dict):
            return value
        changed = {
            key: self._owner(each, (*path, key)) for key, each in value.items() if key in _HOLDERS
        }
        if "rubrics" in value and (found := self._rubrics(value, path)):
            changed |= found
        changed = {key: each for key, each in changed.items() if each is not value.get(key)}
        return {**value, **changed} if changed else value

    def _rubrics(self, owner: dict[str, Any], path: Path) -> dict[str, Any]:
        """Return the keys of an owner that differ with the included criteria."""
        written, where = owner["rubrics"], (*path, "rubrics")
        mapping = isinstance(written, dict)
        listed = written.get("criteria") if mapping else written
        origin: Path = (*where, "criteria") if mapping else where
        if not isinstance(listed, list) or not any(map(_is_include, listed)):
            return {}
        entries = list(self._entries(listed, origin))
        more = _shared_keys([each.file for each in entries if each.file])
        is_evaluator = "type" in owner
        wraps = not mapping and not is_evaluator and bool(more)
        place: Path = (*where, "criteria") if wraps else origin
        if wraps:
            self._into.moved[place] = (self._into.raw, origin)
        for index, each in enumerate(entries):
            self._into.moved[(*place, index)] = (each.source, each.path)
        criteria = [each.data for each in entries]
        if is_evaluator:
            return {"rubrics": criteria, **_union(owner, more)}
        if mapping or wraps:
            base = _mapping(written)
            return {"rubrics": {**base, **_union(base, more), "criteria": criteria}}
        return {"rubrics": criteria}

    def _entries(self, listed: list[Any], path: Path) -> Iterator["_Entry"]:
        seen: set[str] = set()
        for index, each in enumerate(listed):
            where: Path = (*path, index)
            if not _is_include(each):
                yield _Entry(_named(each, index), self._into.raw, where)
            elif found := self._file(each["include"], (*where, "include")):
                name = each.get("as")
                name = name if isinstance(name, str) else basename(found.document.file)
                name = name.removesuffix(ENDING).removesuffix(".yaml")
                key = json.dumps([found.document.file, name, each.get("vars")], default=str)
                if key not in seen:
                    seen.add(key)
                    yield from self._criteria(found, each, name, where)

    def _file(self, written: Any, path: Path) -> RubricFile | None:
        """Return a rubric file without problems; others are noted."""
        if not isinstance(written, str):
            return None
        if written not in self._found:
            self._found[written] = self._opened(written)
        found = self._found[written]
        if isinstance(found, str):
            self._into.problems.append(Problem(INCLUDE, path, found))
            return None
        self._into.files[found.document.file] = found
        data = found.document.data
        usable = isinstance(data, dict) and isinstance(data.get("criteria"), list)
        return found if usable and not found.faulty else None

    def _opened(self, written: str) -> RubricFile | str:
        found = self._lookup(file_name(written))
        if not isinstance(found, Found):
            name = file_name(written)
            return f"`{name}`: {found.reason}" if found.media is None else f"`{name}` is no text"
        opened = open_rubric(found.path, found.text)
        data = opened.document.data
        if opened.document.readable and (not isinstance(data, dict) or "criteria" not in data):
            return f"`{found.path}` has no `criteria`"
        return opened

    def _criteria(
        self, found: RubricFile, include: dict[str, Any], name: str, where: Path
    ) -> Iterator["_Entry"]:
        document = found.document
        named = {_id(each, n): n for n, each in enumerate(document.data["criteria"], start=1)}
        self._check(include, named, where)
        only, without = (_texts(include.get(key)) for key in ("only", "except"))
        chosen = [
            n for each, n in named.items() if (not only or each in only) and each not in without
        ]
        kept = {each for each, n in named.items() if n in chosen}
        for number in chosen:
            path: Path = ("criteria", number - 1)
            template = _text_as_mapping(document.data["criteria"][number - 1])
            span = Span(*document.locate(path), file=document.file)
            data = _scaled(template, include)
            data["id"] = f"{name}/{_id(template, number)}"
            data |= self._condition(template, name, kept, include, where)
            data[INCLUDED] = Included(
                span=span,
                given=_mapping(include.get("vars")),
                defaults=_mapping(document.data.get("vars")),
            )
            yield _Entry(data, document, path, found)

    def _condition(
        self, criterion: dict[str, Any], name: str, kept: set[str], include: Any, where: Path
    ) -> dict[str, Any]:
        condition = criterion.get("applies_if")
        parent = condition.get("criterion") if isinstance(condition, dict) else None
        if not isinstance(condition, dict) or not isinstance(parent, str):
            return {}
        if parent not in kept:
            key = "only" if "only" in include else "except"
            message = (
                f"`{criterion.get('id')}` applies by the mark of `{parent}`, which is left out"
            )
            self._into.problems.append(
                Problem(INCLUDE, (*where, key), message, "include it as well")
            )
        return {"applies_if": {**condition, "criterion": f"{name}/{parent}"}}

    def _check(self, include: dict[str, Any], named: Mapping[str, int], where: Path) -> None:
        if "only" in include and "except" in include:
            message = "an include has either `only` or `except`, not both"
            self._into.problems.append(
                Problem(INCLUDE, (*where, "except"), message, "remove one", at_key=True)
            )
        for key in ("only", "except"):
            for index, each in enumerate(_texts(include.get(key))):
                if each not in named:
                    hint = did_you_mean(nearest(each, named)) or f"known: {', '.join(named)}"
                    message = f"the rubric file has no criterion `{each}`"
                    self._into.problems.append(
                        Problem(INCLUDE, (*where, key, index), message, hint)
                    )


class _Entry(NamedTuple):
    """A criterion of an expanded list, and its place."""

    data: Any
    source: Source
    path: Path
    file: RubricFile | None = None


def _without_known(shared: Iterable[_Entry], listed: list[Any]) -> Iterator[_Entry]:
    """Yield shared criteria, but for those of a file that the list includes in the same way."""
    known = {_way(each) for each in listed}
    for each in shared:
        way = _way(each.data)
        if not way or way not in known:
            known.add(way)
            yield each


def _way(criterion: Any) -> str:
    origin = criterion.get(INCLUDED) if isinstance(criterion, dict) else None
    if not isinstance(origin, Included):
        return ""
    return json.dumps([criterion["id"], origin.span.file, origin.given], default=str)


def _is_include(entry: Any) -> bool:
    return isinstance(entry, dict) and "include" in entry


def _same(before: list[Any], after: list[Any]) -> list[Any]:
    return before if all(a is b for a, b in zip(before, after, strict=True)) else after


def _id(criterion: Any, number: int) -> str:
    name = criterion.get("id") if isinstance(criterion, dict) else None
    return name if isinstance(name, str) else f"rubric-{number}"


def _named(criterion: Any, index: int) -> Any:
    """Return a criterion with the id that its place as written gives it."""
    template = _text_as_mapping(criterion)
    return {"id": f"rubric-{index + 1}", **template} if isinstance(template, dict) else criterion


def _text_as_mapping(criterion: Any) -> Any:
    return {"expected_outcome": criterion} if isinstance(criterion, str) else criterion


def _texts(value: Any) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _scaled(criterion: dict[str, Any], include: dict[str, Any]) -> dict[str, Any]:
    """Return a criterion with the factor of its include, and without a gate if that says so."""
    found, factor = dict(criterion), include.get("weight", 1)
    if factor != 1 and isinstance(factor, int | float):
        key = "penalty" if "penalty" in found else "weight"
        found[key] = found.get(key, 1.0) * factor
        if not found[key] and (key == "penalty" or criterion.get("weight", 0) < 0):
            found |= {"penalty": 0}
            found.pop("weight", None)
    if include.get("required") is False:
        for gate in ("required_min_score", "required_min_level", "required_choices"):
            found.pop(gate, None)
        if not {"score_ranges", "levels", "choices"} & found.keys() or "required" in found:
            found["required"] = False
    return found


def _shared_keys(files: list[RubricFile]) -> dict[str, list[Any]]:
    """Return what a request shows because of included files: the union of their `sees`."""
    every = {each.document.file: each.document.data for each in files}.values()
    seen = [part for data in every for part in data.get("sees", ())]
    return {"sees": seen} if seen else {}


def _union(owner: Mapping[str, Any], more: Mapping[str, list[Any]]) -> dict[str, Any]:
    if "sees" not in more:
        return {}
    own = owner.get("sees", ["answer"])
    return {"sees": [*dict.fromkeys([*own, *more["sees"]])]}
