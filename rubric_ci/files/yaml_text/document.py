"""A YAML text, composed once by libyaml: JSON data, and the place of each value."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar, Final, NamedTuple, TypeAlias

from yaml import YAMLError
from yaml._yaml import CParser
from yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceStartEvent,
)
from yaml.nodes import MappingNode, ScalarNode, SequenceNode

from rubric_ci.files.yaml_text.constructor import AmbiguousScalar, DataBuilder, merged_nodes, place
from rubric_ci.files.yaml_text.escaped_pairs import parseable, put_back
from rubric_ci.files.yaml_text.size_limits import yaml_over_limits
from rubric_ci.values.problems import (
    GOOD_FILE,
    MAX_PROBLEMS,
    LocatedProblem,
    Location,
    Path,
    Place,
    Rule,
)

_TEXT_AT_HASH: Final = r"[ \t]#[^\s#!]"  # a `#` that looks like text; compiled when needed

YAML_EMPTY: Final = Rule(
    id="yaml-empty",
    meaning="The file is empty or has only comments.",
    hint="add content, or remove the file",
    bad="# to be written\n",
    good=GOOD_FILE,
)


class Document:
    """One text, its data, and the problems of the text itself.

    With `core` scalars are read by the core schema of YAML 1.2: `no` is a text.
    """

    __slots__ = (
        *("_aliases", "_keys", "_last", "ambiguous", "data", "file", "root", "text"),
        "text_problems",
    )

    of_other_tool: ClassVar[bool] = False
    in_files: ClassVar[bool] = False
    rubric_files: ClassVar[tuple[str, ...]] = ()

    def __init__(self, file: str, text: str, *, core: bool = False) -> None:
        self.file = file
        self.text = text.removeprefix("\ufeff")
        self.text_problems: list[tuple[str, LocatedProblem]] = []
        self.ambiguous: list[AmbiguousScalar] = []
        self._aliases: dict[Path, int] | None = None
        self._last: tuple[Path, Any] = ((), None)  # the owner that was located last, and its node
        self._keys: dict[int, dict[str | int, tuple[Any, Any]]] = {}  # of mappings with many keys
        self.data: Any = None
        self.root: Any = self._compose()
        if self.root is not None:
            builder = DataBuilder(self.text, core=core)
            self.data = builder.value(self.root)
            self.text_problems += [(file, problem) for problem in builder.text_problems]
            self.ambiguous = builder.ambiguous
            if builder.dashes or ("#" in self.text and re.search(_TEXT_AT_HASH, self.text)):
                from rubric_ci.files.yaml_text.scalars import plain_scalar_problems

                for problem in plain_scalar_problems(self.root, self.text):
                    self._report(problem)

    def texts(self) -> dict[str, str]:
        return {self.file: self.text}

    @property
    def readable(self) -> bool:
        return self.root is not None

    def location(self, path: Path, *, at_key: bool = False) -> Location:
        return Location(self.file, self.locate(path, at_key=at_key), self._alias_line(path))

    def locate(self, path: Path, *, at_key: bool = False) -> Place:
        owner, node = self._last
        if owner != path[:-1] or node is None:  # siblings are located one after the other
            node = self.root
            for step in path[:-1]:
                found = self._child(node, step)
                if found is None:
                    return place(node)
                node = found[1]
            self._last = (path[:-1], node)
        found = self._child(node, path[-1]) if path else None
        key, node = found or (None, node)
        return place(key if at_key and key is not None else node)

    def written(self, path: Path) -> str | None:
        node = self.node(path)
        return str(node.value) if node.__class__ is ScalarNode else None

    def node(self, path: Path) -> Any:
        """Return the YAML node at a path, or None."""
        node = self.root
        for step in path:
            found = self._child(node, step)
            if found is None:
                return None
            node = found[1]
        return node

    def value(self, path: Path) -> Any:
        data = self.data
        for step in path:
            data = data[step]
        return data

    def paths_of(self, nodes: Iterable[Any], leave_out: "LeaveOut") -> dict[int, Path]:
        return paths_of(self.root, nodes, leave_out)

    def ambiguous_paths(self, kind: str) -> list[Path]:
        nodes = [scalar.node for scalar in self.ambiguous if scalar.kind == kind]
        return sorted(self.paths_of(nodes, lambda *_: False).values(), key=str)

    def _alias_line(self, path: Path) -> int | None:
        if "&" not in self.text:
            return None
        if self._aliases is None:
            self._aliases = alias_lines(self.text)
        prefixes = [path[:length] for length in range(len(path), 0, -1)]
        places = (place for prefix in prefixes for place in (prefix, (*prefix[:-1], "<<")))
        return next((self._aliases[place] for place in places if place in self._aliases), None)

    def _child(self, node: Any, step: str | int) -> tuple[Any, Any] | None:
        """Return the node of a key, if any, and of its value or of an item."""
        if node.__class__ is SequenceNode:
            inside = isinstance(step, int) and step < len(node.value)
            return (None, node.value[step]) if inside else None
        if node.__class__ is not MappingNode:
            return None
        if len(node.value) > MANY_KEYS:
            index = self._index(node)
            if step in index or "<<" not in index:
                return index.get(step)
        merges = []
        for key, value in node.value:
            if key.value == step:
                return key, value
            if key.value == "<<" and not key.style:
                merges.append(value)
        inherited = (self._child(merged, step) for merged in merged_nodes(merges))
        return next((pair for pair in inherited if pair is not None), None)

    def _index(self, node: Any) -> Mapping[str | int, tuple[Any, Any]]:
        """Return the keys of a mapping, of equal ones the first, with their nodes."""
        if id(node) not in self._keys:
            named = (pair for pair in reversed(node.value) if pair[0].__class__ is ScalarNode)
            self._keys[id(node)] = {pair[0].value: pair for pair in named}
        return self._keys[id(node)]

    def _compose(self) -> Any:
        problem = yaml_over_limits(self.text)
        if problem:
            return self._report(problem)
        parsed = parseable(self.text)
        try:
            node = _Composer(parsed).get_single_node()
            if parsed is not self.text and not put_back(node, self.text):
                node = _Composer(self.text).get_single_node()  # raises the error at its place
        except YAMLError as error:
            from rubric_ci.files.yaml_text.syntax_errors import (
                syntax_problem,  # only for broken files
            )

            return self._report(syntax_problem(error, self.text))
        if node is None:
            self._report(LocatedProblem(YAML_EMPTY, 1, 1, 1, 1, "the file is empty"))
        if not self.text.isascii():
            from rubric_ci.files.yaml_text.syntax_errors import line_break_problems

            for problem in line_break_problems(self.text):
                self._report(problem)
        return node

    def _report(self, problem: LocatedProblem) -> None:
        self.text_problems.append((self.file, problem))


class _Composer(CParser):
    """Nodes without tags: `scalars` resolves them."""

    def resolve(self, _kind: object, _value: object, _implicit: object) -> None:
        return None

    def descend_resolver(self, _parent: object, _index: object) -> None:
        pass

    def ascend_resolver(self) -> None:
        pass


MANY_KEYS: Final = 32

MAX_VISITS: Final = 600_000  # twice as many as a file can have values

LeaveOut: TypeAlias = Callable[[str, Any], bool]
"""Predicate on key and value: skip this value."""


def paths_of(root: Any, nodes: Iterable[Any], leave_out: LeaveOut) -> dict[int, Path]:
    """Return a path to each node, by `id`, that avoids the values in `leave_out`.

    Every node is visited once for each set of keys that override merged ones: aliases may form
    cycles, and merges may form too many paths. The walk ends when enough problems are found.
    """
    wanted = {id(node) for node in nodes}
    found: dict[int, Path] = {}
    seen: set[tuple[int, frozenset[str]]] = set()
    open_nodes: list[Iterator[_Visit]] = [iter([_Visit(root, (), frozenset())])]
    while open_nodes and len(seen) < MAX_VISITS and len(found) <= MAX_PROBLEMS:
        visit = next(open_nodes[-1], None)
        if visit is None:
            open_nodes.pop()
        elif (key := (id(visit.node), visit.hidden)) not in seen:
            seen.add(key)
            if key[0] in wanted:
                found.setdefault(key[0], visit.path)
            open_nodes.append(_children(visit, leave_out))
    return found


class _Visit(NamedTuple):
    """A node on a walk, and the keys that override merged ones."""

    node: Any
    path: Path
    hidden: frozenset[str]


def _children(visit: _Visit, leave_out: LeaveOut) -> Iterator[_Visit]:
    if visit.node.__class__ is SequenceNode:
        for index, item in enumerate(visit.node.value):
            yield _Visit(item, (*visit.path, index), frozenset())
    if visit.node.__class__ is not MappingNode:
        return
    merges, hidden = [], visit.hidden
    for key, value in visit.node.value:
        if key.value == "<<" and not key.style:
            merges.append(value)
        elif key.__class__ is ScalarNode and key.value not in visit.hidden:
            if leave_out(key.value, value):
                continue
            yield _Visit(value, (*visit.path, key.value), frozenset())
    if merges:
        own = {key.value for key, _ in visit.node.value if key.__class__ is ScalarNode}
        hidden = visit.hidden | own
    for merged in merged_nodes(merges):
        if merged.__class__ is MappingNode:
            yield _Visit(merged, visit.path, hidden)


def alias_lines(text: str) -> dict[Path, int]:
    """Return the line, from 1, of each alias by its path; a merged one's path ends with `<<`."""
    found: dict[Path, int] = {}
    open_nodes: list[_Open] = []
    parser = CParser(parseable(text))
    while parser.check_event():
        event = parser.get_event()
        if isinstance(event, CollectionEndEvent):
            open_nodes.pop()
        elif isinstance(event, ScalarEvent | AliasEvent | MappingStartEvent | SequenceStartEvent):
            if open_nodes:
                open_nodes[-1].take(event)
            if isinstance(event, AliasEvent):
                mark: Any = event.start_mark
                found[tuple(node.step for node in open_nodes)] = mark.line + 1
            elif not isinstance(event, ScalarEvent):
                open_nodes.append(_Open(mapping=isinstance(event, MappingStartEvent)))
    return found


class _Open:
    """A list or mapping that is not closed yet."""

    def __init__(self, *, mapping: bool) -> None:
        self.mapping = mapping
        self.step: str | int = "" if mapping else -1
        self._key_is_next = True

    def take(self, event: Any) -> None:
        """Update `step` for a new child: a key, or the value of the last key."""
        if not self.mapping:
            self.step = int(self.step) + 1
            return
        if self._key_is_next:
            self.step = event.value if isinstance(event, ScalarEvent) else ""
        self._key_is_next = not self._key_is_next
