"""Included and shared criteria in place of `include` and `shared_rubrics`.

They are replaced before the rules see a list of criteria, so that judge, scores and gates know one
list. A place inside an included criterion is a place in its rubric file.
"""

import json
from collections.abc import Container, Iterable, Iterator, Mapping
from posixpath import basename, dirname, join
from typing import Any, Final

from rubric_ci.evaluators.assertions.keys import SCHEMA_KEY
from rubric_ci.evaluators.kind import INCLUDED, Included, criteria_at, names_file
from rubric_ci.files.validation.example_and_condition_rules import ids_of
from rubric_ci.files.validation.rubric_files import (
    ENDING,
    INCLUDE,
    NOT_SHARED,
    SHARED,
    Entry,
    IncludedSource,
    RubricFile,
    Shared,
    file_name,
    may_include,
    open_rubric,
    scaled,
    together,
    union,
)
from rubric_ci.files.validation.rubric_rules import criteria_problems
from rubric_ci.files.validation.schema import fits
from rubric_ci.files.validation.schema import problems as schema_problems
from rubric_ci.files.yaml_text.document import Document
from rubric_ci.files.yaml_text.source import Source
from rubric_ci.text.suggestions import did_you_mean, nearest
from rubric_ci.values.diagnostics import Span
from rubric_ci.values.include import Include
from rubric_ci.values.problems import Path, Problem
from rubric_ci.values.references import Found, Lookup
from rubric_ci.values.written_keys import read_keys

_HOLDERS: Final = frozenset(("evalcases", "turns", "execution", "evaluators", "aggregator"))


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
    return Shared(entries, tuple(found), into.files, document)


def criteria_by_id(shared: Shared) -> dict[str, str]:
    """Return each shared criterion, also of included files, as JSON by its id."""
    return {
        each.data["id"]: json.dumps(
            {key: value for key, value in each.data.items() if key != INCLUDED}, sort_keys=True
        )
        for each in shared.entries
    }


def with_includes(source: Source, lookup: Lookup, shared: Shared = NOT_SHARED) -> Source:
    """Return a source with the criteria that it includes and shares; itself, if it has none."""
    if source.of_other_tool or not isinstance(source.data, dict) or not source.readable:
        return source
    if not shared.entries and not may_include(source):
        return source
    included = IncludedSource(source)
    _Expansion(included, lookup).run(shared)
    return included if included.moved or included.files or included.problems else source


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
        self._into.configuration = shared.source
        if own or shared.entries:
            self._share(own, shared.entries)

    def shared(self, listed: list[Any], name: str) -> Iterator[Entry]:
        """Yield shared criteria; one without an id is `name-<n>`."""
        for each in self._entries(listed, (SHARED,)):
            if not isinstance(each.data, dict):
                continue
            if each.more is not None:
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

    def _share(self, own: tuple[Entry, ...], others: tuple[Entry, ...]) -> None:
        data = self._into.data
        cases = data.get("evalcases")
        if not isinstance(cases, list):
            return
        given = [self._with_shared(each, n, own, others) for n, each in enumerate(cases)]
        kept = {key: value for key, value in data.items() if key != "rubrics"}
        self._into.data = {**kept, "evalcases": given}  # each case has the suite's

    def _with_shared(
        self, case: Any, index: int, own: tuple[Entry, ...], others: tuple[Entry, ...]
    ) -> Any:
        """Return a case with the shared criteria after its own, or after its suite's."""
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
        more = together(each.more for each in entries)
        mapping = isinstance(written, dict) or bool(more)
        target: Path = (*at, "criteria") if mapping else at
        origins = [self._into.origin((*where, n)) for n in range(len(listed))]
        places = [*origins, *((each.source, each.path) for each in entries)]
        self._into.moved |= {(*target, n): each for n, each in enumerate(places)}
        criteria = [*listed, *(each.data for each in entries)]
        if not mapping:
            return {**case, "rubrics": criteria}
        base = written if isinstance(written, dict) else {}
        return {**case, "rubrics": {**base, **union(base, more), "criteria": criteria}}

    def _owner(self, value: Any, path: Path) -> Any:
        """Return a suite, case, turn or evaluator, and what is in it, with included criteria."""
        if isinstance(value, list):
            made = [self._owner(each, (*path, n)) for n, each in enumerate(value)]
            return value if all(a is b for a, b in zip(value, made, strict=True)) else made
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
        more = together(each.more for each in entries)
        is_evaluator = "type" in owner
        wraps = not mapping and not is_evaluator and bool(more)
        place: Path = (*where, "criteria") if wraps else origin
        if wraps:
            self._into.moved[place] = (self._into.raw, origin)
        for index, each in enumerate(entries):
            self._into.moved[(*place, index)] = (each.source, each.path)
        criteria = [each.data for each in entries]
        if is_evaluator:
            return {"rubrics": criteria, **union(owner, more)}
        if mapping or wraps:
            base = written if isinstance(written, dict) else {}
            return {"rubrics": {**base, **union(base, more), "criteria": criteria}}
        return {"rubrics": criteria}

    def _entries(self, listed: list[Any], path: Path) -> Iterator[Entry]:
        """Yield a list with included criteria in place of each include that the schema accepts."""
        seen: set[str] = set()
        for index, (each, own) in enumerate(zip(listed, ids_of(listed), strict=True)):
            where: Path = (*path, index)
            if not _is_include(each):
                template = _text_as_mapping(each)
                named = {"id": own, **template} if isinstance(template, dict) else each
                yield Entry(named, self._into.raw, where)
            elif (found := self._file(each["include"], (*where, "include"))) and fits(
                "rubric", {"criteria": [each]}
            ):
                include = read_keys(Include, each)
                file = found.document.file
                name = include.prefix or basename(file).removesuffix(ENDING)
                name = name.removesuffix(".yaml")
                key = json.dumps([file, name, include.variables])
                if key not in seen:
                    seen.add(key)
                    yield from self._criteria(found, include, name, where)

    def _file(self, written: Any, path: Path) -> RubricFile | None:
        """Return a rubric file without problems; others are noted."""
        if not isinstance(written, str):
            return None
        if written not in self._found:
            self._found[written] = self._opened(written)
        found = self._found[written]
        if isinstance(found, str):
            self._report(path, found)
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
        self, found: RubricFile, include: Include, name: str, where: Path
    ) -> Iterator[Entry]:
        document = found.document
        criteria = [_text_as_mapping(each) for each in document.data["criteria"]]
        named = {own: number for number, own in enumerate(ids_of(criteria))}
        self._check(include, named, where)
        chosen = {
            each: number
            for each, number in named.items()
            if (not include.only or each in include.only) and each not in include.without
        }
        more = self._more(document, name, chosen, where)
        for own, number in chosen.items():
            path: Path = ("criteria", number)
            template = criteria[number]
            span = Span(*document.locate(path), file=document.file)
            data = self._with_schemas(scaled(template, include), document)
            data["id"] = f"{name}/{own}"
            data |= self._condition(template, name, chosen, include, where)
            data[INCLUDED] = Included(
                span=span, given=include.variables, defaults=document.data.get("vars", {})
            )
            yield Entry(data, document, path, more)

    def _condition(
        self,
        criterion: dict[str, Any],
        name: str,
        kept: Container[str],
        include: Include,
        where: Path,
    ) -> dict[str, Any]:
        match criterion:
            case {"applies_if": {"criterion": str(parent)} as condition}:
                if parent not in kept:
                    message = (
                        f"`{criterion.get('id')}` applies by the mark of `{parent}`, which is "
                        "left out"
                    )
                    key = "only" if include.only else "except"
                    self._report((*where, key), message, "include it as well")
                return {"applies_if": {**condition, "criterion": f"{name}/{parent}"}}
        return {}

    def _more(
        self, document: Document, name: str, kept: Container[str], where: Path
    ) -> dict[str, list[Any]]:
        data, found = document.data, dict[str, list[Any]]()
        if "sees" in data:
            found["sees"] = [(part, document.file) for part in data["sees"]]
        if "guidelines" in data:
            text = self._guidelines(document, data["guidelines"], where)
            found["guidelines"] = [(text, document.file)]
        examples = [
            {**each, "marks": marks}
            for each in data.get("examples", ())
            if (marks := {f"{name}/{k}": v for k, v in each["marks"].items() if k in kept})
        ]
        return found | ({"examples": examples} if examples else {})

    def _guidelines(self, document: Document, written: str, where: Path) -> str:
        """Return guidelines, or the path from the root of the file that has them."""
        if not names_file(written):
            return written
        name = self._from_root(document, written)
        found = self._lookup(name)
        if not isinstance(found, Found):
            message = f"`guidelines: {written}` of {document.file}: {found.reason}"
            self._report((*where, "include"), message)
        return name

    def _with_schemas(self, owner: dict[str, Any], document: Document) -> dict[str, Any]:
        """Return a criterion or its condition with the paths of schemas from the root."""
        found = dict(owner)
        if isinstance(name := owner.get(SCHEMA_KEY), str):
            found[SCHEMA_KEY] = self._from_root(document, name)
        if isinstance(condition := owner.get("applies_if"), dict):
            found["applies_if"] = self._with_schemas(condition, document)
        return found

    def _from_root(self, document: Document, name: str) -> str:
        """Return the path of a file that a rubric file names, from its folder or one above."""
        parts = dirname(document.file).split("/")
        folders = ("/".join(parts[:length]) for length in range(len(parts), -1, -1))
        paths = [join("/", folder, name) for folder in folders]
        return next((each for each in paths if isinstance(self._lookup(each), Found)), paths[0])

    def _check(self, include: Include, named: Mapping[str, int], where: Path) -> None:
        if include.only and include.without:
            message = "an include has either `only` or `except`, not both"
            self._report((*where, "except"), message, "remove one", at_key=True)
        for key, names in (("only", include.only), ("except", include.without)):
            for index, each in enumerate(names):
                if each not in named:
                    hint = did_you_mean(nearest(each, named)) or f"known: {', '.join(named)}"
                    message = f"the rubric file has no criterion `{each}`"
                    self._report((*where, key, index), message, hint)

    def _report(self, path: Path, message: str, hint: str = "", *, at_key: bool = False) -> None:
        self._into.problems.append(Problem(INCLUDE, path, message, hint, at_key=at_key))


def _without_known(shared: Iterable[Entry], listed: list[Any]) -> Iterator[Entry]:
    """Yield shared criteria, without a file that the list includes in the same way."""
    known = {_way(each) for each in listed}
    for each in shared:
        way = _way(each.data)
        if each.more is None or way not in known:
            known.add(way)
            yield each


def _way(criterion: Any) -> str:
    origin = criterion.get(INCLUDED) if isinstance(criterion, dict) else None
    if not isinstance(origin, Included):
        return ""
    return json.dumps([criterion["id"], origin.span.file, origin.given], default=str)


def _is_include(entry: Any) -> bool:
    return isinstance(entry, dict) and "include" in entry


def _text_as_mapping(criterion: Any) -> Any:
    return {"expected_outcome": criterion} if isinstance(criterion, str) else criterion
