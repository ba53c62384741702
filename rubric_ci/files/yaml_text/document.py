"""A YAML text, composed once by libyaml within limits of size and nesting, and each place in it."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from yaml import YAMLError
from yaml._yaml import CParser
from yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceStartEvent,
)
from yaml.nodes import MappingNode, ScalarNode, SequenceNode

from rubric_ci.files.yaml_text.constructor import (
    YAML_DEPTH,
    AmbiguousScalar,
    DataBuilder,
    OneSource,
    merged_nodes,
    place,
)
from rubric_ci.files.yaml_text.scalars import parseable, put_back
from rubric_ci.values.json_value import MAX_DEPTH
from rubric_ci.values.problems import (
    GOOD_FILE,
    MAX_PROBLEMS,
    LocatedProblem,
    Location,
    Path,
    Place,
    Rule,
)

MAX_CHARACTERS: Final = 16_000_000  # code points
MAX_VALUES: Final = 200_000  # half a kilobyte each
MAX_ESCAPES: Final = 1_000_000  # Python's JSON decoder splits text at each of them
MAX_COMPOSED_DEPTH: Final = 5_000  # libyaml's composer recurses in C and overflows at some 50,000

_STRING = r'"[^"\\\n]*(?:\\[^\n][^"\\\n]*)*\\?"?'  # or an unclosed one on its line
_MANY = f"the file has more than {MAX_VALUES:,} values"


FILE_SIZE: Final = Rule(
    id="file-size",
    meaning=(
        "A file may have 200,000 values and 16 million characters; JSON Lines may have a million "
        "escapes. All cases of a file together may take 200,000 entries from the suite, such as "
        "its criteria, and have 64 million characters with their variables, a text of them a "
        "million. Larger files would exhaust the memory of a CI runner."
    ),
    hint="split the file",
)


def yaml_over_limits(text: str) -> LocatedProblem | None:
    """Return a problem for a text that is too large or too deep to be composed.

    A text with few brackets, dashes and colons is neither, and is not parsed twice.
    """
    if len(text) > MAX_CHARACTERS:
        return _too_long()
    if most_values(text) <= MAX_VALUES and most_levels(text) <= MAX_COMPOSED_DEPTH:
        return None
    try:
        return _events_over_limits(CParser(parseable(text)))
    except YAMLError:
        return None  # the composer stops at the same place


def most_values(text: str) -> int:
    """Return a number of values that a text cannot have more of, by its signs of structure."""
    return 1 + 2 * sum(map(text.count, "[{-:?,"))  # each begins two at most: a key and its value


def most_levels(text: str) -> int:
    """Return a number of levels that a text cannot have more of."""
    brackets = sum(map(text.count, "[[{"))  # an entry `[a: b]` is a mapping of its own
    blocks = sum(map(text.count, "-:?"))
    widest = max(map(len, text.split("\n")))
    return brackets + min(blocks, 2 * widest)  # a list may begin in the column of its mapping


def lines_over_limits(text: str) -> LocatedProblem | None:
    """Return a problem for JSON Lines that are too large, by counting separators."""
    if len(text) > MAX_CHARACTERS:
        return _too_long()
    if len(text) <= MAX_VALUES:
        return None
    if text.count("\\") > MAX_ESCAPES:
        return _problem(FILE_SIZE, 1, 1, f"the file has more than {MAX_ESCAPES:,} escapes")
    signs = re.sub(_STRING, "", text)
    if sum(map(signs.count, ",:[{\n")) > MAX_VALUES:
        return _problem(FILE_SIZE, 1, 1, _MANY)
    return None


def _events_over_limits(parser: Any) -> LocatedProblem | None:
    depth = values = 0
    while parser.check_event():
        event = parser.get_event()
        if isinstance(event, CollectionEndEvent):
            depth -= 1
        elif isinstance(event, NodeEvent):
            values += 1
            depth += isinstance(event, CollectionStartEvent)
            mark: Any = event.start_mark
            if depth > MAX_COMPOSED_DEPTH:
                message = f"nested more than {MAX_DEPTH} levels deep"
                return _problem(YAML_DEPTH, mark.line + 1, mark.column + 1, message)
            if values > MAX_VALUES:
                return _problem(FILE_SIZE, mark.line + 1, mark.column + 1, _MANY)
    return None


def _too_long() -> LocatedProblem:
    message = f"the file has more than {MAX_CHARACTERS // 1_000_000} million characters"
    return _problem(FILE_SIZE, 1, 1, message)


def _problem(rule: Rule, line: int, column: int, message: str) -> LocatedProblem:
    return LocatedProblem(rule, line, column, line, column + 1, message)


_TEXT_AT_HASH: Final = r"[ \t]#[^\s#!]"  # a `#` that looks like text; compiled when needed

YAML_EMPTY: Final = Rule(
    id="yaml-empty",
    meaning="The file is empty or has only comments.",
    hint="add content, or remove the file",
    bad="# to be written\n",
    good=GOOD_FILE,
)


class Document(OneSource):
    """One text, its data, and the problems of the text itself.

    With `core` scalars are read by the core schema of YAML 1.2: `no` is a text.
    """

    __slots__ = (
        *("_aliases", "_keys", "_last", "ambiguous", "data", "file", "root", "text"),
        "text_problems",
    )

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
